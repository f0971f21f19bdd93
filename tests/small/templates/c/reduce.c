//@ for _, v in ipairs(variants) do
void $v.name$(const lathe_args *args);
//@ end
