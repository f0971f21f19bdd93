#!/bin/sh
# made_of.sh - C that says what a build is made of, for reports.
#   made_of.sh SOURCES OUT KERNEL_FLAGS NVCC_FLAGS   writes OUT, and the files that it depends on to OUT.d
# The commit is that of the sources where they are the root of a Git checkout. A hash is of the names and contents of
# all files in a folder.

set -eu
src=$1 out=$2 kernel_flags=$3 nvcc_flags=$4

hash() {
  (
    cd "$src"
    find "$1" -type f | LC_ALL=C sort | while IFS= read -r file; do
      printf '%s\n' "$file"
      cat "$file"
    done
  ) | { sha256sum 2>/dev/null || shasum -a 256; } | cut -c -16
}

text() { # text NAME VALUE; of no value NULL
  if [ "$2" ]; then
    printf 'const char *const made_of_%s = "%s";\n' "$1" "$(printf '%s' "$2" | sed 's/["\\]/\\&/g')"
  else
    printf 'const char *const made_of_%s = NULL;\n' "$1"
  fi
}

commit='' date='' log=''
if prefix=$(cd "$src" && git rev-parse --show-prefix 2>/dev/null) && [ ! "$prefix" ]; then
  commit=$(cd "$src" && git rev-parse -q --verify HEAD 2>/dev/null) || commit=''
  [ ! "$commit" ] || date=$(cd "$src" && TZ=UTC0 git show -s --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ HEAD)
  log=$(cd "$src" && git rev-parse --git-path logs/HEAD)
  case $log in
  /*) ;;
  *) log=$src/$log ;;
  esac
fi
{
  printf '#include "report/made_of.h"\n\n#include <stddef.h>\n\n'
  text commit "$commit"
  text commit_date "$date"
  text kernel_flags "$kernel_flags"
  text nvcc_flags "$nvcc_flags"
  text specs "$(hash specs)"
  text templates "$(hash templates)"
} >"$out.new"
mv "$out.new" "$out"
{
  printf '%s: ' "$out"
  { find "$src/specs" "$src/templates" -type f -o -type d && if [ -f "$log" ]; then printf '%s\n' "$log"; fi; } |
    sed 's/[ #]/\\&/g' | tr '\n' ' '
  printf '\n'
} >"$out.d"
