-- Kernels in GLSL: one file for each op and precision, with the kernels of all its variants, of which the build makes
-- a SPIR-V module each.
return {
  kind = "vulkan",
  lowering = "lower_glsl",
  extension = ".comp",
  rule = "glsl",
  backends = {
    { name = "vulkan", features = {} },
  },
  -- What a device must have besides for a precision.
  dtype_features = {
    f64 = { "VULKAN_F64" },
    f16 = { "VULKAN_F16", "VULKAN_STORAGE16" },
    bf16 = { "VULKAN_STORAGE16" },
  },
  -- What the compiler must know besides GLSL itself and what all kernels use. configure tries each of
  -- these; a variant that needs one that is lacking is a row with the reason. A precision needs some, and
  -- so can a parameter's value: needs = { [value] = { ... } } beside its short name. What needs more than
  -- its precision does is a module of its own, which only devices that know the extension are given.
  tried_extensions = {
    "GL_EXT_shader_16bit_storage",
    "GL_EXT_shader_explicit_arithmetic_types_float16",
    "GL_EXT_shader_explicit_arithmetic_types_float64",
    "GL_KHR_cooperative_matrix",
    "GL_NV_cooperative_matrix2", -- SPIR-V 1.6: for vulkan1.3, where the rule glsl says vulkan1.2
    "GL_NV_cooperative_vector",
  },
  dtype_needs = {
    f64 = { "GL_EXT_shader_explicit_arithmetic_types_float64" },
    f16 = { "GL_EXT_shader_16bit_storage", "GL_EXT_shader_explicit_arithmetic_types_float16" },
    bf16 = { "GL_EXT_shader_16bit_storage" },
  },
  -- block: invocations of a workgroup; unroll: 16-byte accesses of an invocation in flight at once;
  -- waves: most workgroups for each multiprocessor.
  families = {
    map = {
      { "block", range = { 32, 1024 }, default = 256, short = "b" },
      { "unroll", range = { 1, 16 }, default = 2, short = "u" },
    },
    reduce = {
      { "block", range = { 32, 1024 }, default = 512, short = "b" },
      { "unroll", range = { 1, 16 }, default = 4, short = "u" },
      { "waves", range = { 1, 32 }, default = 4, short = "w" },
    },
    rows = {}, -- the shapes of templates/glsl/shapes.c
  },
  -- Whether the variants of an op have a function NAME_workspace.
  workspace = function(op)
    return op.family ~= "map"
  end,
  -- Why an op can have no kernel in a precision, or nil: push constants hold the addresses of its operands
  -- and of the workspace, dimensions and scalars, and not every device has more than 128 bytes of them.
  unable = function(op, dtype)
    local bytes = 8 * (#op.operands + 1 + #op.dims) + #op.scalars * (dtype == "f64" and 8 or 4)
    if bytes > 128 then
      return ("its operands, dimensions and scalars take %d bytes of Vulkan's push constants, of which devices "
        .. "have 128"):format(bytes)
    end
  end,
  constraint = function(params)
    local block, unroll = params.block, params.unroll
    if block and block & (block - 1) ~= 0 then
      return "block = " .. block .. ": expected a power of two"
    elseif unroll and unroll & (unroll - 1) ~= 0 then
      return "unroll = " .. unroll .. ": expected a power of two"
    end
  end,
}
