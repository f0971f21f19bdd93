#!/bin/sh
# test_configure.sh - configure's good and bad calls. Needs LATHE_SRC, the source folder.

passed=0
failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
unset CC CFLAGS KERNEL_CFLAGS LDFLAGS AR PYTHON

# configure ARGUMENT...: its status goes to $status, what it says to the files stdout and stderr.
configure() {
  "${configure:-$LATHE_SRC/configure}" "$@" >stdout 2>stderr
  status=$?
}

# is WHAT COMMAND...: one test, of the last call of configure.
is() {
  what=$1
  shift
  if "$@" >/dev/null 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED configure %s: not true that: %s\n' "$what" "$*"
    sed 's/^/  status '"$status"': /' stderr
  fi
}

refused() { # refused WORDS ARGUMENT: one line with these words on standard error, and status 2
  words=$1
  configure "$2"
  is "$2" test "$status" = 2
  is "$2" test "$(wc -l <stderr)" -eq 1
  is "$2" grep -F -e "$words" stderr
  is "$2" test ! -e build.ninja
}

refused 'did you mean --werror?' --werrr
refused 'did you mean --disable-avx512?' --dissable-avx512
refused "unknown argument '--disable-neon2'" --disable-neon2
refused "unknown argument '--nonsense'" --nonsense
refused "unknown argument 'all'" all
refused 'did you mean CFLAGS?' CFLGS=-O0
refused 'absolute path' --prefix=usr
refused 'absolute path' --prefix
refused 'takes a list' --sanitize=
refused 'takes a command' --launcher
refused 'the path /a:b' --prefix=/a:b
refused 'line break' "CFLAGS=-O2
-g"

configure --help
is --help test "$status" = 0
is --help grep -F -e --disable-avx512 -e 'scalar sse2 avx2 avx512' stdout

# Nothing but the shell's own tools: all that is missing is named, with no build.ninja.
mkdir bin
for name in awk cat cmp dirname mkdir mv rm sed sh tee touch tr; do
  ln -s "$(command -v "$name")" bin/
done
PATH=$tmp/bin configure
is 'without tools' test "$status" = 1
for name in cc ninja ar lua jansson cmocka mpfr; do
  is 'without tools' grep "^  $name  " stderr
done
is 'without tools' test ! -e build.ninja

# The same with a package manager that installs nothing: it is asked once, after fetching its lists.
cat >bin/apt-get <<'EOF'
#!/bin/sh
echo "$*" >>apt-get.log
case $* in *--simulate*) exit 1 ;; esac
EOF
printf '#!/bin/sh\necho 0\n' >bin/id
ln -s "$(command -v env)" bin/
chmod +x bin/apt-get bin/id
PATH=$tmp/bin configure --install-deps
is '--install-deps' test "$status" = 1
is '--install-deps' grep '^Installing: .*gcc.* liblua5.4-dev .*libmpfr-dev' stdout
steps=$(grep -o -e '--simulate' -e 'update$' -e 'recommends install' apt-get.log | tr '\n' ,)
is '--install-deps' test "$steps" = '--simulate,update,recommends install,'

# A compiler that knows no AVX-512.
cat >oldcc <<'EOF'
#!/bin/sh
case $* in *-mavx512*) exit 1 ;; esac
exec cc "$@"
EOF
chmod +x oldcc
configure CC="$tmp/oldcc" --disable-sse2
is 'with an old compiler' test "$status" = 0
is 'with an old compiler' grep "OFF: $tmp/oldcc can't build AVX-512 code" stdout
is 'with an old compiler' grep -F -e "--disabled 'sse2=disabled by --disable-sse2' --disabled 'avx512=" \
  out/generator-flags
is 'with an old compiler' test -f build.ninja
rm build.ninja
configure CC="$tmp/oldcc" --enable-avx512
is '--enable-avx512 with an old compiler' test "$status" = 1
is '--enable-avx512 with an old compiler' test ! -e build.ninja

# A folder with a space in its name, and arguments that the shell and ninja could misread. The
# command that ninja would run is run, and must make the same file.
ln -s "$LATHE_SRC" 'a b'
configure='a b/configure'
configure CFLAGS="-O1 -DNAME='\"it is \$5\"'" --prefix='/opt/c d' --disable-line
is 'with odd characters' test "$status" = 0
is 'with odd characters' grep -x 'prefix = /opt/c d' build.ninja
is 'with odd characters' grep -F -- '--no-line' out/generator-flags
rerun=$(ninja -t commands build.ninja | sed -n 's/.*PYTHON; \(.*\); *else.*/\1/p')
is 'again' test -n "$rerun"
mv build.ninja first
sh -c "$rerun" >stdout 2>stderr
status=$?
is 'again' test "$status" = 0
is 'again' cmp first build.ninja

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
