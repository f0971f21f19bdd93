#!/bin/sh
# counts.sh [FOLDER] - holds the counts of lines that the tree is not to exceed, and says where it does. Exits with 1
# where something is said. `ninja lint` runs it. Where a count falls, lower its limit.
cd "${1:-$(dirname "$0")/..}" || exit 2

{
  # limit NAME MOST COUNT
  limit() { [ "$3" -le "$2" ] || echo "$1: expected at most $2 lines, found $3"; }
  lines() { cat "$@" | wc -l; }
  limit README.md 200 "$(lines README.md)"
  limit configure 900 "$(lines configure)"
  limit build.ninja.in 650 "$(lines build.ninja.in)"
  limit runtime/ 35818 "$(find runtime -name '*.[ch]' -exec cat {} + | wc -l)"

  # A file has one purpose, and 600 lines at most; of data any number.
  find gen runtime specs templates tests -type f ! -name '*.png' ! -name '*.pyc' ! -name '*.md' \
    ! -path '*/expected/*' ! -name '*.expected' ! -name test_schema.c -exec awk '
    function close_file() {
      if (count > 600) printf "%s: expected at most 600 lines, found %d; cut it by purpose\n", last, count
    }
    FNR == 1 { close_file(); last = FILENAME }
    { count = FNR }
    END { close_file() }' {} +

  # A line has 120 columns at most. Lines of templates become others; tables and commands in a README cannot be broken.
  find gen runtime specs \( -name '*.lua' -o -name '*.[ch]' -o -name '*.py' \) -exec awk '
    length($0) > 120 { printf "%s:%d: expected at most 120 columns, found %d\n", FILENAME, FNR, length($0) }' {} +
  find . -name README.md ! -path './out/*' -exec awk '
    length($0) > 120 && !/^ *\|/ && !/^    / && !/^!\[/ {
      printf "%s:%d: expected at most 120 columns, found %d\n", FILENAME, FNR, length($0)
    }' {} +
  limit 'lines of more than 120 columns in templates/' 180 \
    "$(find templates -type f ! -name README.md -exec awk 'length($0) > 120' {} + | wc -l)"
} >"${TMPDIR:-/tmp}/counts.$$"

cat "${TMPDIR:-/tmp}/counts.$$"
if [ -s "${TMPDIR:-/tmp}/counts.$$" ]; then status=1; else status=0; fi
rm -f "${TMPDIR:-/tmp}/counts.$$"
exit "$status"
