-- No backend: what the templates of cuda and glsl have in common, who name it as "../gpu/...".
return { backends = {} }
