-- Which names the operands and scalars of an op may have: generated code uses them as they are, beside its own.

local expr = require "expr"
local text = require "text"

local names = {}

-- What C, CUDA or GLSL reserve, what generated code uses of their libraries, and the templates' own variables. A
-- digit after a word changes nothing: int64, vec4, sum1.
local reserved = {}
for name in ([[asm auto bool break case char const continue default do double else enum extern float for goto if
  inline int long register restrict return short signed sizeof static struct switch typedef union unsigned void
  volatile while linux unix typeof and catch class compl delete explicit export friend mutable namespace new not
  operator or private protected public template this throw try typeid typename using virtual xor attribute
  coherent precise varying centroid flat smooth noperspective patch sample invariant precision lowp mediump
  highp subroutine common partition active resource input output filter interface packed external noinline
  superp discard vec dvec ivec uvec bvec hvec fvec mat dmat true false in out inout uniform buffer shared layout
  main half fabs isfinite args best block count end hit i inside pair row rows thread slot lane nth at aligned
  first tile packs tail head whole mine left last counter workspace step start all begin blocks column columns
  each fetch from group groups here invocation keys lanes live numbers of_row other over_rows owner pack part
  partial partials parts place pos room stage stride term there threads ticket to_aligned turn wanted width
  padded some fabsl atomic_int fenv_t max_align_t ptrdiff_t size_t ssize_t static_assert thread_local wchar_t
  alignas alignof assert atomic_uint barrier cast concept consteval constexpr constinit co_await co_return co_yield
  const_cast decltype dim dynamic_cast errno fixed length noexcept nullptr readonly words reinterpret_cast
  requires row_major sampler static_cast stderr stdin stdout texture uint writeonly]]):gmatch "%S+" do
  reserved[name] = true
end
for name in pairs(expr.vocabulary) do
  reserved[name] = true
end

-- What templates put after the name of an operand, and a _, for what belongs to it.
local endings = {}
for name in ([[ahead asked at end ends high hit kept low magnitude next now number out pack place part row rows term
  value words]]):gmatch "%S+" do
  endings[name] = true
end

-- Why generated code cannot use a name, or nil.
local function fault_of(name)
  local stem = name:match "^(%a+)%d+$" or name:match "^(%a+)%d+_"
  if name:find "_$" then
    return "it ends with _, as names of generated code do"
  elseif name:find "^lathe_" then
    return "it begins with lathe_, as names of generated code do"
  elseif name:find "^u?int[%l_]*%d*_t$" or name:find "^float%d+_t$" then
    return "it is a type of C's"
  elseif name:find "^[tu]%d+$" then
    return "generated code numbers its own variables so"
  elseif reserved[name] or stem and reserved[stem] then
    return "it is reserved in C, CUDA or GLSL, or the name of something in generated code or of a spec's functions"
  end
end

-- Refuses a name for an operand or scalar.
function names.check(where, what, name)
  if not text.is_name(name) then
    text.fail(where, "%s: expected %s, found %s", what, text.a_name, text.show(name))
  end
  local fault = fault_of(name)
  if fault then
    text.fail(where, "%s: expected another name than '%s': %s", what, name, fault)
  end
end

-- Refuses lists of { name } of which generated code would call something else the same.
function names.check_together(where, what, ...)
  local known = {}
  for _, list in ipairs { ... } do
    for _, item in ipairs(list) do
      if known[item.name] then
        text.fail(where, "%s: two operands are called '%s'", what, item.name)
      end
      known[item.name] = true
    end
  end
  for name in text.sorted_pairs(known) do
    for at, ending in name:gmatch "()_(%a+)" do
      local owner = name:sub(1, at - 1)
      if known[owner] and endings[ending] or owner == "kept" and known[name:sub(at + 1)] then
        text.fail(where, "%s: expected another name than '%s' beside '%s': generated code calls something that belongs "
          .. "to that so", what, name, owner == "kept" and name:sub(at + 1) or owner)
      end
    end
  end
end

return names
