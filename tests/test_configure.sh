#!/bin/sh
# test_configure.sh - configure's good and bad calls. Needs LATHE_SRC, the source folder, and LATHE_GEN.

. "$LATHE_SRC/tests/check.sh"

cd "$tmp" || exit 1
unset CC CFLAGS KERNEL_CFLAGS REFERENCE_CFLAGS LDFLAGS AR PYTHON NVCC NVCCFLAGS GLSLANG SPIRV_VAL XZ

# For what hangs on no backend that is looked for at length.
few='--disable-sse2 --disable-avx2 --disable-avx512 --disable-amx --disable-vulkan'

# configure ARGUMENT...: its status goes to $status, what it says to the files stdout and stderr.
configure() {
  "${configure:-$LATHE_SRC/configure}" "$@" >stdout 2>stderr
  status=$?
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
refused "'foo' is no architecture" --cuda-arch=sm_80,foo
refused 'takes a list of names' --ops='softmax layernorm'
refused 'takes a list of names' --ops
refused 'takes a list' --dtypes=
refused 'did you mean --ops?' --op=softmax
refused 'did you mean --dtypes?' --dtype=f32
refused 'takes a command' --launcher
refused 'takes a file' --tuning
refused "begins with 'lathe-tuning 1'" --tuning=nosuch
refused 'the path /a:b' --prefix=/a:b
refused 'line break' "CFLAGS=-O2
-g"
# What breaks the kernels' promise, wherever it stands.
for flag in -ffast-math -Ofast -funsafe-math-optimizations -ffinite-math-only -fassociative-math -freciprocal-math \
  -mrecip -mrecip=all -fno-signed-zeros; do
  refused "KERNEL_CFLAGS: $flag lets the compiler change results" "KERNEL_CFLAGS=-O2 $flag"
done
refused 'CFLAGS: -ffast-math lets' "CFLAGS='-ffast-math' -O2"
refused 'REFERENCE_CFLAGS: -Ofast lets' REFERENCE_CFLAGS=-Ofast
refused 'CC: -ffast-math lets' 'CC=gcc -ffast-math'
refused 'LDFLAGS: -Ofast lets' 'LDFLAGS=-Ofast'
for flag in -use_fast_math --use_fast_math --ftz=true '-ftz true' --prec-div=false -prec-sqrt=false --fmad=true; do
  refused "NVCCFLAGS: ${flag% *} lets" "NVCCFLAGS=-O3 $flag"
done
refused 'NVCC: -use_fast_math lets' 'NVCC=nvcc -use_fast_math'
printf '#!/bin/sh\nexec cc -ffast-math "$@"\n' >fastcc
chmod +x fastcc
configure CC="$tmp/fastcc"
is 'a compiler that is fast' test "$status" = 2
is 'a compiler that is fast' grep "^configure: '$tmp/fastcc .*-O3 -g0' lets the compiler change results" stderr
is 'a compiler that is fast' test ! -e build.ninja

# A generator that is there says which ops there are, where it is younger than its sources. Nothing is looked for that
# only tests need.
printf '#!/bin/sh\necho of_another\n' >generator
chmod +x generator
GENERATOR=$tmp/generator configure $few --disable-cuda --disable-tests --ops=softmax
is 'a generator that is there' test "$status" = 0
is 'a generator that is there' grep -x 'checking for ops softmax... 1' stdout
is 'without tests' grep -x "checking for jansson... .*" stdout
is 'without tests' test ! "$(grep -E 'for (cmocka|numpy|cppcheck)|^ *(cmocka|numpy) ' stdout)"
touch -t 200001010000 generator
GENERATOR=$tmp/generator configure $few --disable-cuda --disable-tests --ops=softmax
is 'an older one' grep -x 'checking for ops softmax... 2' stdout
rm -r build.ninja out

# Flags for the kernels come after theirs, and are tried.
configure KERNEL_CFLAGS='-fno-such-flag'
is 'a flag that there is not' test "$status" = 1
is 'a flag that there is not' grep '^configure: KERNEL_CFLAGS=-fno-such-flag: .* makes no program' stderr
is 'a flag that there is not' test "$(wc -l <stderr)" -eq 1
configure KERNEL_CFLAGS='-mtune=generic -O1' REFERENCE_CFLAGS=-Og --disable-cuda --disable-vulkan
is 'flags for the kernels' test "$status" = 0
is 'flags for the kernels' grep -x 'cflags_kernel = -O3 -g0 -mtune=generic -O1 .*' build.ninja
is 'flags for references alone' grep -x 'cflags_reference = -mtune=generic -O1 -O1 .* -Og' build.ninja
rm build.ninja
configure --disable-scalar --disable-sse2 --disable-avx2 --disable-avx512 --disable-amx --disable-cuda --disable-vulkan
is 'no backend' test "$status" = 1
is 'no backend' grep '^  backends  *all are off, so that there is nothing to build$' stderr
is 'no backend' test ! -e build.ninja

configure --help
is --help test "$status" = 0
is --help grep -F -e --disable-avx512 -e 'scalar neon sse2 avx2 amx avx512' stdout

# Nothing but the shell's own tools: all that is missing is named, with no build.ninja.
mkdir bin
for name in awk cat cmp dirname mkdir mv rm sed sh tee touch tr; do
  ln -s "$(command -v "$name")" bin/
done
PATH=$tmp/bin configure
is 'without tools' test "$status" = 1
for name in cc ninja ar lua jansson lzma xz cmocka mpfr; do
  is 'without tools' grep "^  $name  " stderr
done
is 'without tools' test ! -e build.ninja

# The same with a package manager whose packages hold Ninja and nothing else: it is asked again for what
# is missing still, each time after fetching its lists, and not a third time.
cat >bin/apt-get <<'EOF'
#!/bin/sh
echo "$*" >>apt-get.log
case $* in
*--simulate*) exit 1 ;;
*recommends\ install*) cp "$0" "${0%/*}/ninja" ;;
esac
EOF
printf '#!/bin/sh\necho 0\n' >bin/id
ln -s "$(command -v env)" "$(command -v cp)" bin/
chmod +x bin/apt-get bin/id
PATH=$tmp/bin configure --install-deps
is '--install-deps' test "$status" = 1
is '--install-deps' grep '^Installing: .*gcc.* ninja-build .*liblua5.4-dev .*libmpfr-dev' stdout
steps=$(grep -o -e '--simulate' -e 'update$' -e 'recommends install' apt-get.log | tr '\n' ,)
is '--install-deps' test "$steps" = '--simulate,update,recommends install,--simulate,update,recommends install,'
is '--install-deps' test "$(grep '^Installing: ' stdout | grep -c ninja-build)" = 1
is '--install-deps' grep '^Installed, and yet not found: .*gcc.* liblua5.4-dev .*libmpfr-dev' stdout

# A compiler that knows no AVX-512.
cat >oldcc <<'EOF'
#!/bin/sh
case $* in *-mavx512* | *-mamx*) exit 1 ;; esac
exec cc "$@"
EOF
chmod +x oldcc
configure CC="$tmp/oldcc" --disable-sse2 --disable-cuda --disable-vulkan
is 'with an old compiler' test "$status" = 0
is 'with an old compiler' grep "OFF: $tmp/oldcc can't build AVX-512 code" stdout
is 'with an old compiler' grep -F -e "--disabled 'sse2=disabled by --disable-sse2' --disabled 'amx=" \
  out/generator-flags
is 'with an old compiler' test -f build.ninja
rm build.ninja
configure CC="$tmp/oldcc" --enable-avx512 --disable-cuda --disable-vulkan
is '--enable-avx512 with an old compiler' test "$status" = 1
is '--enable-avx512 with an old compiler' test ! -e build.ninja

# A list of kernels that another version has written goes where ninja could not read it.
printf 'build out/gen/a/a.o: cc_kernel out/gen/a/a.c\n  why = left: out\n' >out/gen/kernels.ninja
configure CC=gcc --disable-cuda --disable-vulkan
is 'a list of rules that there are' test -s out/gen/kernels.ninja
printf 'build $\n    out/gen/a/a.zst: pack_nvcc out/gen/a/a.image\n' >out/gen/kernels.ninja

# Parts of immintrin.h are read alone where the compiler lets them be.
configure CC=gcc --disable-cuda --disable-vulkan
is 'a list of rules that there are no more' test ! -s out/gen/kernels.ninja
is 'parts of immintrin.h' grep -x 'cflags_avx2 = .* -DLATHE_INTRINSIC_PARTS' build.ninja
is 'parts of immintrin.h' grep -x 'cflags_avx512 = .* -DLATHE_INTRINSIC_PARTS' build.ninja
printf '#!/bin/sh\ncase $* in *_PARTS*) exit 1 ;; esac\nexec cc "$@"\n' >wholecc
chmod +x wholecc
configure CC="$tmp/wholecc" --disable-cuda --disable-vulkan
is 'immintrin.h as a whole' test "$status" = 0
is 'immintrin.h as a whole' grep -x 'cflags_avx2 = -mavx2 -mfma -mf16c' build.ninja
rm build.ninja

# One that there is not is all that is at fault.
configure CC=nosuchcc
is 'a compiler that there is not' test "$status" = 1
is 'a compiler that there is not' grep "^configure: CC=nosuchcc: 'nosuchcc .*' makes no program that runs" stderr
is 'a compiler that there is not' test "$(wc -l <stderr)" -eq 1

# An nvcc that knows sm_80 and sm_90a.
cat >nvcc <<'EOF'
#!/bin/sh
[ "$1" != --list-gpu-code ] || printf '%s\n' sm_80 sm_90a
for word; do
  case $word in *code=sm_80 | *code=sm_90a | *code=compute_80) ;; *code=*) exit 1 ;; esac
done
EOF
chmod +x nvcc
configure NVCC="$tmp/nvcc" $few
is 'an nvcc' grep '^checking backend cuda\.\.\. yes' stdout
is 'the little that CUDA needs of the host' grep -F -e "-include '$LATHE_SRC/templates/cuda/host.h'" build.ninja
is 'instructions of sm_90a' test "$(grep -c wgmma stdout build.ninja | tr '\n' ' ')" = 'stdout:0 build.ninja:0 '
rm build.ninja
# One whose headers need more of the host.
sed 's,^  case \$word in,& */host.h) exit 1 ;;,' nvcc >older && chmod +x older
configure NVCC="$tmp/older" $few --cuda-arch=sm_80
is 'all that CUDA needs of the host' test "$(grep -c 'host[.]h' build.ninja)" = 0
is 'no instructions of sm_90a' grep '^  cuda with wgmma: --cuda-arch=sm_80 has no sm_90a' stdout
is 'no instructions of sm_90a' grep -e "--disabled 'cuda:wgmma=--cuda-arch=sm_80 has no sm_90a" build.ninja
rm build.ninja
configure NVCC="$tmp/nvcc" $few --cuda-arch=sm_80,sm_1
is 'an unknown GPU' test "$status" = 1
is 'an unknown GPU' grep "^  --cuda-arch=sm_80,sm_1  *$tmp/nvcc can't compile for sm_1; it knows sm_80 sm_90a\$" stderr
is 'an unknown GPU' test ! -e build.ninja
configure NVCC="$(command -v false)" $few --cuda-arch=sm_80
is 'no nvcc that works' test "$status" = 1
is 'no nvcc that works' grep '^  --cuda-arch=sm_80  *.*false can.t compile for sm_80$' stderr
is 'no nvcc that works' test ! -e build.ninja
configure NVCC="$(command -v false)" $few --disable-cuda --cuda-arch=sm_80
is 'a GPU for a backend that is off' test "$status" = 0
rm build.ninja

# This machine's GPUs, by an nvidia-smi that says what the file `caps` has.
mkdir gpu
printf '#!/bin/sh\n[ "$*" = "--query-gpu=compute_cap --format=csv,noheader" ] && cat "%s/caps"\n' "$tmp" >gpu/nvidia-smi
chmod +x gpu/nvidia-smi
native() { # native ARGUMENT...: configure for a machine whose GPUs are those in caps
  rm -f build.ninja
  PATH=$tmp/gpu:$PATH configure NVCC="$tmp/nvcc" $few "$@"
}
printf '9.0\n9.0\n8.0\n7.5\n' >caps
native --cuda-arch=native
is 'native' test "$status" = 0
is 'native' grep 'for sm_90a,sm_80$' stdout
is 'native' grep -F -e '-gencode arch=compute_80,code=sm_90a -gencode arch=compute_80,code=sm_80 -o' build.ninja
is 'native' grep -e '--cuda-arch=native' build.ninja
native --cuda-arch=sm_80,native
is 'native beside another' grep 'for sm_80,sm_90a$' stdout
printf '12.0\n' >caps
native --cuda-arch=native
is 'native for a GPU too new' test "$status" = 1
is 'native for a GPU too new' grep "^  --cuda-arch=native  *$tmp/nvcc can't compile for sm_120; it knows sm_80 sm_90a\$" stderr
is 'native for a GPU too new' test ! -e build.ninja
for caps in '' 7.5 'No devices were found'; do
  echo "$caps" >caps
  native --cuda-arch=native
  is "native with '$caps'" test "$status" = 1
  is "native with '$caps'" grep '^  --cuda-arch=native  *nvidia-smi names no GPU .*, as in --cuda-arch=sm_90a$' stderr
  is "native with '$caps'" test ! -e build.ninja
done
native --cuda-arch=native --disable-cuda
is 'native for a backend that is off' test "$status" = 0
rm -r gpu
PATH=$tmp/gpu:$PATH configure NVCC="$tmp/nvcc" $few --cuda-arch=native
command -v nvidia-smi >/dev/null || is 'native without nvidia-smi' grep 'nvidia-smi names no GPU' stderr
rm -f build.ninja

# ---- GLSL tools that know little, and newer ones ------------------------------------------------

# They and the Vulkan headers are made up, so that nothing hangs on what the machine has, and stand in
# PATH before what it has. The compiler takes any shader but one that asks for an extension with a word
# of the file `unknown` beside it in its name; the validator, any but one with a word of `invalid`.
mkdir -p glsl include/vulkan
: >include/vulkan/vulkan_core.h
cat >glsl/glslangValidator <<'EOF'
#!/bin/sh
here=${0%/*}
for word; do
  [ "$last" != -o ] || out=$word
  last=$word
done
while read -r word; do
  ! grep "^#extension .*$word" "$last" || exit 1
done <"$here/unknown"
cp "$last" "$out"
EOF
cat >glsl/spirv-val <<'EOF'
#!/bin/sh
while read -r word; do
  ! grep "^#extension .*$word" "$3" || exit 1
done <"${0%/*}/invalid"
EOF
# apt-get, which says in a file that it was called, and how.
cat >glsl/apt-get <<'EOF'
#!/bin/sh
echo "$*" >>"${0%/*}/../apt-get.log"
case $* in
indextargets*) printf '%s\n' 'Packages|main|Debian|http://mirror.invalid/debian/' \
  'Packages|main|Debian-Security|http://mirror.invalid/security/' 'Packages|main|Other|http://other.invalid/' ;;
*update) exit "$(cat "${0%/*}/../reachable")" ;;
*--download-only*)
  for package in glslang-tools spirv-tools; do
    : >"${2%/*}/archives/$package.deb"
  done
  ;;
esac
EOF
# dpkg-deb, which makes of any package all tools, and a loader that starts what it is given.
cat >glsl/dpkg-deb <<'EOF'
#!/bin/sh
mkdir -p "$3/usr/lib/it" "$3/usr/bin"
cp "${0%/*}/loader" "$3/usr/lib/it/ld-linux-it.so.2"
for tool in glslangValidator spirv-val; do
  cp "${0%/*}/$tool" "$3/usr/bin/"
done
printf '#!/bin/sh\n' >"$3/usr/bin/spirv-dis"
chmod +x "$3"/usr/bin/*
cp "${0%/*}/new-unknown" "$3/usr/bin/unknown"
: >"$3/usr/bin/invalid"
EOF
cat >glsl/loader <<'EOF'
#!/bin/sh
[ "$1 $2 $3" = "--inhibit-cache --library-path ${0%/*}" ] || exit 1
shift 3
case $2 in --version) exit 0 ;; esac
exec "$@"
EOF
printf '#!/bin/sh\necho amd64\n' >glsl/dpkg
chmod +x glsl/*
: >glsl/unknown
: >glsl/invalid
: >glsl/new-unknown
echo 1 >reachable

# with_glsl ARGUMENT...: configure, with these tools and few backends.
with_glsl() {
  rm -f apt-get.log
  PATH=$tmp/glsl:$PATH configure CFLAGS="-I$tmp/include" --disable-cuda --disable-sse2 --disable-avx2 \
    --disable-avx512 --disable-amx "$@"
}

with_glsl
is 'all extensions' test "$status" = 0
is 'all extensions' grep '^  Vulkan .*glslangValidator, spirv-val; 7 of 7 extensions$' stdout
is 'all extensions' test "$(grep -c 'vulkan:' out/generator-flags)" = 0

# Each of them by itself: unknown to the compiler, or not to the validator's liking.
for case in unknown:16bit_storage invalid:float16 unknown:float64 invalid:KHR_cooperative_matrix \
  unknown:cooperative_matrix2 invalid:cooperative_vector; do
  extension=${case#*:}
  echo "$extension" >"glsl/${case%:*}"
  with_glsl
  is "$case" test "$status" = 0
  is "$case" grep "^checking GL_.*$extension\.\.\. OFF: .* build no shader that uses GL_.*$extension\$" stdout
  is "$case" grep "^  vulkan with GL_.*$extension: " stdout
  flag=$(sed -n "s/.*'\(vulkan:GL_[A-Za-z0-9_]*$extension=glslangValidator and [^']*\)'.*/\1/p" out/generator-flags)
  is "$case" test "$flag"
  is "$case" "$LATHE_GEN" --src "$LATHE_SRC" --out generated --disabled "$flag" index
  : >"glsl/${case%:*}"
done
# One that others are built on takes these with it; those that are not stay.
echo KHR_cooperative_matrix >glsl/unknown
with_glsl
is 'two off' grep ' 5 of 7 extensions$' stdout
is 'two off' grep '^checking GL_NV_cooperative_vector\.\.\. yes$' stdout
is 'two off' grep '^  newer-glslang  *no Vulkan kernels with the extensions that are OFF' stdout
is 'two off' test "$(sed -n '/rows with the reason/,/^$/p' stdout | grep -c 'vulkan with .*cooperative')" = 2
with_glsl --launcher=nosuch
is 'nothing optional is needed' test "$status" = 1
is 'nothing optional is needed' test "$(sed -n '/and needed:$/,/^$/p' stderr | grep -c glslang)" = 0
is 'nothing optional is needed' grep '^  --launcher  ' stderr
is 'nothing optional is needed' grep '^  newer-glslang  ' stderr
echo float16 >glsl/unknown
with_glsl
is 'one that is needed off' grep '^  newer-glslang  *no Vulkan kernels' stdout
is 'one that is needed off' \
  test "$(sed -n '/rows with the reason/,/^$/p' stdout | grep -c 'vulkan with .*float16')" = 1
echo KHR_cooperative_matrix >glsl/unknown
with_glsl
is 'nothing is fetched unasked' test ! -e apt-get.log
is 'nothing is fetched unasked' test ! -e out/tools

# What there is stays in use where no mirror can be reached, and one line says so.
with_glsl --install-deps=glsl
is 'no mirror' test "$status" = 0
is 'no mirror' test "$(grep -c mirror.invalid stdout)" = 1
is 'no mirror' grep "^No newer GLSL tools: .* from http://mirror.invalid/debian/\. glslangValidator stays" stdout
is 'no mirror' grep ' 5 of 7 extensions$' stdout
is 'no mirror' test -f build.ninja
is 'no mirror' test "$(grep -c update apt-get.log)" = 1
is 'no mirror' test ! -e out/tools
is 'no mirror' test ! -s stderr
mv glsl/dpkg-deb glsl/dpkg-off
ln -s "$(command -v false)" glsl/dpkg-deb
echo 0 >reachable
with_glsl --install-deps=glsl
is 'what was fetched does not run' test "$status" = 0
is 'what was fetched does not run' grep '^No newer GLSL tools: the tools of Debian unstable do not run here' stdout
is 'what was fetched does not run' test ! -e out/tools
mv glsl/dpkg-off glsl/dpkg-deb

# They are fetched once, checked by trying, and preferred from then on, also to those in PATH.
with_glsl --install-deps=glsl
is 'newer tools' test "$status" = 0
is 'newer tools' grep '^  Vulkan .*out/tools/glslangValidator, out/tools/spirv-val; 7 of 7 extensions$' stdout
is 'newer tools' grep -x 'glslang = out/tools/glslangValidator' build.ninja
is 'newer tools' test "$(grep -c -e --config-file apt-get.log)" = 2
is 'newer tools' test "$(grep -c vulkan: out/generator-flags)" = 0
with_glsl --install-deps=glsl
is 'newer tools again' grep -x 'nothing to install' stdout
is 'newer tools again' test ! -e apt-get.log
with_glsl
is 'newer tools stay' grep -x 'spirv_val = out/tools/spirv-val' build.ninja
with_glsl GLSLANG=glslangValidator
is 'named tools' grep -x 'glslang = glslangValidator' build.ninja
is 'named tools' grep -x 'spirv_val = spirv-val' build.ninja
is 'named tools' grep ' 5 of 7 extensions$' stdout
is 'named tools' test "$(grep -c newer-glslang stdout)" = 0
with_glsl SPIRV_VAL=spirv-val
is 'named validator' grep -x 'spirv_val = spirv-val' build.ninja
is 'named validator' grep -x 'glslang = out/tools/glslangValidator' build.ninja
# Those that lack something too are not fetched again, and those that do not run are passed over.
echo cooperative_vector >out/tools/root/usr/bin/unknown
with_glsl --install-deps=glsl
is 'newer tools, too old' grep ' 6 of 7 extensions$' stdout
is 'newer tools, too old' test ! -e apt-get.log
rm out/tools/root/usr/lib/it/ld-linux-it.so.2
with_glsl
is 'broken newer tools' grep -x 'glslang = glslangValidator' build.ninja
rm -r out/tools glsl

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

# --install-deps=peers: a Python that makes another in out/peers, which has the libraries once pip has installed them.
mkdir python
cat >python/python3 <<'EOF'
#!/bin/sh
case $* in
*'-m venv'*) mkdir -p out/peers/bin && cp "$0" out/peers/bin/ ;;
*'-m pip install'*) echo "$*" >>pip.log && touch out/peers/filled ;;
*'scipy, torch'*) [ -e out/peers/filled ] ;;
esac
EOF
chmod +x python/python3
rm -rf out
configure='' PYTHON=$tmp/python/python3 configure --install-deps=peers
is '--install-deps=peers' test "$status" = 0
is '--install-deps=peers' test "$(cat pip.log)" = '-m pip install numpy scipy torch apache-tvm-ffi'
is '--install-deps=peers' grep '^Installing: NumPy, SciPy and PyTorch in out/peers' stdout
configure='' PYTHON=$tmp/python/python3 configure --install-deps=peers
is '--install-deps=peers again' grep '^nothing to install in out/peers' stdout
is '--install-deps=peers again' test "$(wc -l <pip.log)" = 1

summary
