# shellcheck shell=sh disable=SC2154 # a part of configure, which sets what it reads
# install.sh - which packages have what is missing, and --install-deps.

# ---- packages ------------------------------------------------------------------------------------

manager=''
for name in brew apk pacman zypper dnf apt-get; do
  command -v "$name" >/dev/null && manager=${name%-get}
done
case $manager in
apt) get='apt-get install' ;;
apk) get='apk add' ;;
pacman) get='pacman -S' ;;
*) get=${manager:+"$manager install"} ;;
esac

packages="
$(cat "$parts/packages")
"

# Of a cross build Debian has the compiler by the name of what it compiles for, and libraries by that of its architecture.
triple=${cross##*/} architecture=''
triple=${triple%-gcc*}
case $manager$triple in
apt*-*)
  packages="$packages
cross-cc gcc-$(printf '%s' "$triple" | tr _ -)"
  case $triple in aarch64-*) architecture=arm64 ;; x86_64-*) architecture=amd64 ;; *) architecture=${triple%%-*} ;; esac
  ;;
esac

packages_of() { # packages_of LEVEL...: the packages of what is missing at these levels
  for level; do
    printf '%s' "$missing" | sed -n "s/^$level|\([^|]*\)|.*/\1/p"
  done | awk -v manager="${manager:-tool}" -v table="$packages" -v architecture="$architecture" '
    BEGIN {
      rows = split(table, row, "\n")
      columns = split(row[2], head)
      for (c = 1; c <= columns; c++) if (head[c] == manager) break
      for (r = 3; r <= rows; r++) { split(row[r], word); package[word[1]] = word[c] }
      if (architecture)
        for (name = split("jansson lzma", library); name; name--) package[library[name]] = package[library[name]] ":" architecture
    }
    package[$0] !~ /^-?$/ && !seen[package[$0]]++ { list = list "+" package[$0] }
    END { print substr(list, 2) }
  ' | tr + ' '
}

# shellcheck disable=SC2086
install_packages() { # install_packages PACKAGE...
  wanted=$*
  sudo=''
  if [ "$manager" != apt ]; then
    die 1 "--install-deps works through apt-get; please install yourself: ${get:+$get }$wanted"
  elif [ "$(id -u)" != 0 ] && ! sudo=$(command -v sudo); then
    die 1 "--install-deps needs root, or sudo; as root: $get $wanted"
  fi
  apt_get() { $sudo env DEBIAN_FRONTEND=noninteractive apt-get --yes --quiet "$@"; }
  printf '\n%sInstalling: %s%s\n' "$bold" "$wanted" "$plain"
  if [ "$architecture" ] && ! dpkg --print-foreign-architectures | grep -qx "$architecture"; then
    $sudo dpkg --add-architecture "$architecture" && apt_get update
  fi
  # Package lists may be missing, which a simulation tells, or old, which only trying does.
  run apt_get --simulate install $wanted || apt_get update
  apt_get --no-install-recommends install $wanted || {
    apt_get update && apt_get --no-install-recommends install $wanted
  }
}

# ---- newer GLSL tools ----------------------------------------------------------------------------

# fetch_tools: Debian unstable's into $tools, each as a script that starts it with its own C library, so
# that they run on any older Debian. apt-get takes them from the mirror that the machine is set up with,
# checks their signatures, and is told to keep everything of its own in a folder of ours: the machine's
# package lists are not touched, and root is not needed. Where it fails $reason says why.
fetch_tools() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    reason='this system has no apt-get and dpkg-deb'
    return 1
  fi
  # The mirrors of Debian itself: of a list that was never fetched the label is not known yet.
  # shellcheck disable=SC2016
  mirrors=$(apt-get indextargets --format '$(CREATED_BY)|$(COMPONENT)|$(LABEL)|$(REPO_URI)' 2>>"$log" |
    awk -F'|' '$1 == "Packages" && $2 == "main" && $3 ~ /^(Debian|\$\(LABEL\))$/ &&
      !seen[$4]++ { printf "%s%s", space, $4; space = " " }')
  if [ -z "$mirrors" ]; then
    reason='apt-get knows no mirror of Debian'
    return 1
  fi
  signed=''
  for keyring in /usr/share/keyrings/debian-archive-keyring.pgp /usr/share/keyrings/debian-archive-keyring.gpg; do
    [ ! -r "$keyring" ] || signed=" signed-by=$keyring"
  done
  for mirror in $mirrors; do
    rm -rf "$tmp/apt"
    mkdir -p "$tmp/apt/lists/partial" "$tmp/apt/archives/partial"
    echo "deb [target=Packages arch=$(dpkg --print-architecture)$signed] $mirror sid main" >"$tmp/apt/sources.list"
    : >"$tmp/apt/status"
    here=$(pwd)/$tmp/apt
    cat >"$tmp/apt/apt.conf" <<EOF
#clear APT::Update;
#clear APT::Default-Release;
Dir::State "$here";
Dir::State::lists "$here/lists";
Dir::State::status "$here/status";
Dir::Cache "$here";
Dir::Cache::archives "$here/archives";
Dir::Etc::sourcelist "$here/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Sandbox::User "";
APT::Update::Error-Mode "any";
Acquire::http::Timeout "15";
Acquire::https::Timeout "15";
Acquire::Retries "1";
EOF
    if run apt-get --config-file "$here/apt.conf" update &&
      run apt-get --config-file "$here/apt.conf" --yes --no-install-recommends --download-only \
        install glslang-tools spirv-tools; then
      unpack_tools
      return
    fi
  done
  reason="Debian unstable's glslang-tools and spirv-tools can't be had from $mirrors"
  return 1
}

unpack_tools() { # out of $tmp/apt/archives, all or none
  reason='the tools of Debian unstable do not run here'
  mkdir -p "$tmp/tools/root"
  for package in "$tmp"/apt/archives/*.deb; do
    run dpkg-deb --extract "$package" "$tmp/tools/root" || return 1
  done
  loader=$(cd "$tmp/tools/root" && find . -name 'ld-linux*.so.*' -type f)
  for name in glslangValidator spirv-val spirv-dis; do
    cat >"$tmp/tools/$name" <<EOF
#!/bin/sh
# $name - written by configure --install-deps; runs with the C library that it was built for.
root=\${0%/*}/root
unset LD_PRELOAD
exec "\$root/$loader" --inhibit-cache --library-path "\$root/${loader%/*}" "\$root/usr/bin/$name" "\$@"
EOF
    chmod +x "$tmp/tools/$name"
    run "$tmp/tools/$name" --version || return 1
  done
  rm -rf "$tools"
  mv "$tmp/tools" "$tools"
}

once_more() { # once_more [OPTION]: configures anew
  printf '\n%sOnce more, with what is installed now:%s\n' "$bold" "$plain"
  rm -rf "$tmp"
  eval "exec sh $rerun $*"
}

# Libraries that nothing here needs, and that are large: for this build alone, but for OpenBLAS.
peers=out/peers
install_peers() {
  others=$missing
  if ! run "$peers/bin/python3" -c 'import numpy, scipy, torch'; then
    run "${PYTHON:-python3}" -c 'import ensurepip, venv' || need peers venv 'no PyTorch beside lathe'
  fi
  run "${PYTHON:-python3}" -c 'import ctypes; ctypes.CDLL("libopenblas.so.0")' || need peers openblas 'no OpenBLAS beside lathe'
  wanted=$(packages_of peers)
  # shellcheck disable=SC2086
  [ -z "$wanted" ] || install_packages $wanted || die 1 'the packages could not be installed'
  missing=$others
  if run "$peers/bin/python3" -c 'import numpy, scipy, torch'; then
    echo "nothing to install in $peers"
    return
  fi
  printf '\n%sInstalling: NumPy, SciPy and PyTorch in %s%s\n' "$bold" "$peers" "$plain"
  "${PYTHON:-python3}" -m venv --system-site-packages "$peers" && "$peers/bin/python3" -m pip install numpy scipy torch apache-tvm-ffi ||
    die 1 "pip could not install them in $peers"
}

# Some of what is missing shows only when other packages are there: Vulkan's headers are looked for once
# there is a GLSL compiler, a device once there are headers, and how old the compiler is when it is tried.
# So configure starts anew with the same option until all that it could install has been.
# shellcheck disable=SC2086
if [ -z "$install" ]; then
  :
elif [ "$install" = peers ]; then
  install_peers
elif wanted=$(packages_of $install) && [ "$wanted" ] && [ "$wanted" != "${LATHE_INSTALLED-}" ]; then
  install_packages $wanted || die 1 'the packages could not be installed'
  export LATHE_INSTALLED="$wanted"
  once_more "$install_option"
elif [ "$wanted" ]; then
  printf '%sInstalled, and yet not found: %s;%s %s has the details\n' "$red" "$wanted" "$plain" "$log"
elif [ -z "$old_glsl" ]; then
  echo 'nothing to install'
else
  printf '\n%sInstalling: newer GLSL tools in %s%s\n' "$bold" "$tools" "$plain"
  if fetch_tools; then once_more; fi
  printf '%sNo newer GLSL tools: %s.%s %s stays; %s has the details.\n' "$red" "$reason" "$plain" "$GLSLANG" "$log"
fi
