# build.awk - writes build.ninja from build.ninja.in, which it reads twice. @NAME@ stands for a variable of configure's,
# @parts@ for the files of gen/configure, and @objects FOLDER@ and `compile FOLDER` for the C files of a folder.
function object_of(source) {
  return "out/obj/" substr(source, 1, length(source) - 1) "o"
}
# The C files of a folder but those whose object is in `without`: lines that compile them, or their objects.
function files_of(folder, without, variables, found, nth, text) {
  for (nth = 1; nth <= count; nth++) {
    if (index(source[nth], folder "/") != 1 || object_of(source[nth]) in without) continue
    text = text (variables == "" ? (text == "" ? "" : " ") object_of(source[nth]) \
      : "build " object_of(source[nth]) ": cc $src/" source[nth] "\n" variables)
  }
  return text
}
function end_of_compile() {
  if (folder != "") printf "%s", files_of(folder, own, variables)
  folder = ""
}
BEGIN {
  count = split(ENVIRON["sources"], source, "\n")
  files = split(ENVIRON["part_files"], file, " ")
  for (nth = 1; nth <= files; nth++) parts = parts " $src/gen/configure/" file[nth]
}
NR == FNR {
  if ($1 == "build" && sub(/:$/, "", $2)) own[$2]
  if ($3 == "link") for (nth = 4; nth <= NF; nth++) linked[$nth]
  next
}
/^compile [a-z]+$/ {
  folder = $2
  variables = ""
  next
}
folder != "" && /^ / {
  variables = variables $0 "\n"
  next
}
{
  end_of_compile()
  text = ""
  sub(/ @parts@/, parts)
  while (match($0, /@objects [a-z]+@/))
    $0 = substr($0, 1, RSTART - 1) files_of(substr($0, RSTART + 9, RLENGTH - 10), linked, "") substr($0, RSTART + RLENGTH)
  while (match($0, /@[A-Za-z0-9_]+@/)) {
    name = substr($0, RSTART + 1, RLENGTH - 2)
    if (!(name in ENVIRON)) {
      printf "configure: build.ninja.in:%d: nothing is known of @%s@\n", FNR, name > "/dev/stderr"
      exit 1
    }
    value = ENVIRON[name]
    gsub(/\$/, "$$", value)
    text = text substr($0, 1, RSTART - 1) value
    $0 = substr($0, RSTART + RLENGTH)
  }
  print text $0
}
