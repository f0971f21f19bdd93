-- Kernels in GLSL: one file for each op and precision, with the kernels of all its variants, of which the build makes
-- a SPIR-V module each.

-- What every device that kernels are tested on has for a workgroup, less the word by which workgroups count parts.
local MOST_INVOCATIONS, MOST_SHARED = 1024, 32768 - 16
local MOST_BESIDE_MATRICES = 49152 -- shared memory of devices that have matrices
local VECTOR_NEEDS = { "GL_NV_cooperative_vector" }
local MATRIX_NEEDS = { "GL_KHR_memory_scope_semantics", "GL_KHR_cooperative_matrix" }
local WORKGROUP_NEEDS = { "GL_NV_cooperative_matrix2", table.unpack(MATRIX_NEEDS) }

return {
  kind = "vulkan",
  lowering = "lower_glsl",
  extension = ".comp",
  rule = "glsl",
  schedule = use "schedule.lua",
  defaults = use "defaults.lua",
  backends = {
    { name = "vulkan", features = {} },
  },
  -- What the compiler must know besides GLSL itself and what all kernels use. configure tries each of
  -- these; a variant that needs one that is lacking is a row with the reason. Element types need some
  -- (gen/base/types.lua), and so can a parameter's value: needs = { [value] = { ... } } beside its short name. What
  -- needs more than its types do is a module of its own, which only devices that know the extension are given:
  -- needs_apart.
  tried_extensions = {
    "GL_EXT_shader_16bit_storage",
    "GL_EXT_shader_8bit_storage",
    "GL_EXT_shader_explicit_arithmetic_types_float16",
    "GL_EXT_shader_explicit_arithmetic_types_float64",
    "GL_KHR_cooperative_matrix",
    "GL_NV_cooperative_matrix2",
    "GL_NV_cooperative_vector",
  },
  needs_apart = true,
  -- What kernels that need an extension are compiled for, where the rule glsl says vulkan1.2.
  targets = { GL_NV_cooperative_matrix2 = "vulkan1.3" },
  -- block: invocations of a workgroup; unroll: 16-byte accesses of an invocation in flight at once;
  -- waves: most workgroups for each multiprocessor.
  templates = {
    map = {
      { "block", range = { 32, 1024 }, default = 256, short = "b" },
      { "unroll", range = { 1, 16 }, default = 2, short = "u" },
    },
    reduce = {
      { "block", range = { 32, 1024 }, default = 512, short = "b" },
      { "unroll", range = { 1, 16 }, default = 4, short = "u" },
      { "waves", range = { 1, 32 }, default = 4, short = "w" },
    },
    rows = {}, -- the shapes of schedule_rows.lua
    -- bm, bn: rows and columns of a workgroup's tile of a large product, in f64 half the columns; bk: terms of a slice,
    -- in f64 half.
    -- unit: what multiplies, where both factors are elements of f16 as they are in memory: numbers, matrices of the
    -- size that the device has (KHR_cooperative_matrix), or those of whole workgroups (NV_cooperative_matrix2).
    -- products: of matrices, added up in f32 or in f16, which dispatch leaves to ops that allow it.
    contract = {
      {
        "unit", names = { "vector", "matrix", "workgroup" }, default = "vector",
        short = { matrix = "matrix", workgroup = "workgroup" },
        needs = { matrix = MATRIX_NEEDS, workgroup = WORKGROUP_NEEDS },
        features = { matrix = { "VULKAN_MATRIX" }, workgroup = { "VULKAN_WORKGROUP_MATRIX" } },
      },
      { "bm", names = { 32, 64, 128, 256, 512 }, default = 64, short = "m" },
      { "bn", names = { 64, 128, 256 }, default = 64, short = "n" },
      { "bk", names = { 8, 16, 32 }, default = 16, short = "k" },
      { "products", names = { "exact", "f16" }, default = "exact", short = { f16 = "f16" } },
    },
    nest = {},
    -- products: what comes to the products of keys, by matrices as f16, which dispatch leaves to ops that allow it.
    stream = {
      {
        "unit", names = { "vector", "matrix" }, default = "vector", short = { matrix = "matrix" },
        needs = { matrix = MATRIX_NEEDS }, features = { matrix = { "VULKAN_MATRIX" } },
      },
      { "products", names = { "exact", "narrow" }, default = "exact", short = { narrow = "narrow" } },
    },
    -- unit: what multiplies.
    chain = {
      { "unit", names = { "row" }, default = "row", short = {} },
    },
    chain_matrix = {
      {
        "unit", names = { "matrix" }, default = "matrix", short = {}, needs = { matrix = MATRIX_NEEDS },
        features = { matrix = { "VULKAN_MATRIX" } },
      },
    },
    chain_vector = {
      {
        "unit", names = { "coopvec" }, default = "coopvec", short = {}, needs = { coopvec = VECTOR_NEEDS },
        features = { coopvec = { "VULKAN_VECTOR" } },
      },
      { "products", names = { "f16_vectors" }, default = "f16_vectors", short = {} },
    },
  },
  implementations = {
    for_loop = { template = "chain" },
    coopmat = { template = "chain_matrix" },
    coopvec = { template = "chain_vector" },
    stream = { template = "stream" },
  },
  constraint = function(params, _, op, dtypes)
    local block, unroll = params.block, params.unroll
    local is_stream = not params.bm and (params.products == "exact" or params.products == "narrow")
    if is_stream and (params.unit == "matrix") ~= (params.products == "narrow") then
      return ("unit = %s: expected products = %s, found %s"):format(params.unit,
        params.unit == "matrix" and "narrow" or "exact", params.products)
    elseif params.products == "narrow" and op.stream and #op.stream.products == 0 then
      return "products = narrow: expected a product of what another one comes to, found none"
    end
    if params.products == "f16" and params.unit == "vector" then
      return "products = f16: expected unit = matrix or workgroup, found vector"
    elseif params.unit == "matrix" or params.unit == "workgroup" or params.unit == "coopvec" then
      if #dtypes ~= 1 or dtypes[1] ~= "f16" then
        return ("unit = %s: expected the dtype f16 alone, found %s"):format(params.unit, table.concat(dtypes, ", "))
      elseif not params.bm or params.unit == "workgroup" then
        return nil
      end
      local bytes = (params.bm + params.bn) * (params.bk + 8) * 2
      if bytes > MOST_BESIDE_MATRICES then
        return ("(bm + bn) * (bk + 8) * 2 = %d: expected at most the %d bytes of shared memory that a workgroup "
          .. "has"):format(bytes, MOST_BESIDE_MATRICES)
      end
    elseif params.bm then
      local invocations, bytes = params.bm // 8 * (params.bn // 8), params.bk * (params.bm + params.bn + 8) * 4
      if invocations > MOST_INVOCATIONS then
        return ("bm / 8 * bn / 8 = %d: expected at most the %d invocations that a workgroup has"):format(invocations,
          MOST_INVOCATIONS)
      elseif bytes > MOST_SHARED then
        return ("bk * (bm + bn + 8) * 4 = %d: expected at most the %d bytes of shared memory that a workgroup "
          .. "has"):format(bytes, MOST_SHARED)
      end
    elseif block and block & (block - 1) ~= 0 then
      return "block = " .. block .. ": expected a power of two"
    elseif unroll and unroll & (unroll - 1) ~= 0 then
      return "unroll = " .. unroll .. ": expected a power of two"
    end
  end,
}
