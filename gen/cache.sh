#!/bin/sh
# cache.sh - keeps what a build has made of a file, for other builds.
#   cache.sh take FOLDER WHAT IN OUT   true where OUT, as it was made of such an IN, is in the folder and could be had
#   cache.sh keep FOLDER WHAT IN OUT   puts it there, where that can be done; always true
# WHAT says how it is made: the programs' versions and options. An entry's name is a hash of WHAT and of all that is in
# IN. It is packed, with a checksum, and written under another name first, so that builds may share the folder. What
# nobody has taken for 30 days is removed. Where FOLDER is empty nothing is kept.
# What the folder lacks is looked for where ccache's remote_storage is, the first of several: a folder (file:) or a server
# (http:, by curl; redis:, by redis-cli), and kept there too. One that does not answer is done without.
# XZ: the xz program; CCACHE: ccache.

set -u
verb=$1 folder=$2 what=$3 in=$4 out=$5
exec 2>/dev/null # what cannot be had or kept is made anew

remote=''
find_remote() { # as file:/PATH or redis://HOST, without ccache's attributes
  remote=${CCACHE_REMOTE_STORAGE-$("${CCACHE:-ccache}" --get-config remote_storage)}
  remote=${remote%%[ |]*}
  case $remote in file:///*) remote=file:${remote#file://} ;; esac
}
http() { # http OPTION... ENTRY: asks the server about a file beside ccache's, as long as redis is given; by no proxy
  curl --silent --fail --noproxy '*' --max-time 2 "$@"
}
server() { # server COMMAND KEY: asks redis, which is given two seconds
  timeout 2 redis-cli -u "$remote" "$@"
}

fetch() { # fetch ENTRY: from the remote into the folder
  find_remote
  mkdir -p "$folder"
  case $remote in
  file:/*) cp "${remote#file:}/lathe-glsl/${1##*/}" "$1.$$" ;;
  http:*) http -o "$1.$$" "${remote%/}/lathe-glsl-${1##*/}" ;;
  redis*:*) server --raw get "lathe-glsl-${1##*/}" | head -c -1 >"$1.$$" && [ -s "$1.$$" ] ;;
  *) false ;;
  esac && mv "$1.$$" "$1" && return
  rm -f "$1.$$"
  false
}

send() { # send ENTRY: from the folder to the remote
  find_remote
  case $remote in
  file:/*)
    there=${remote#file:}/lathe-glsl
    mkdir -p "$there" && cp "$1" "$there/.${1##*/}.$$" && mv "$there/.${1##*/}.$$" "$there/${1##*/}"
    rm -f "$there/.${1##*/}.$$"
    ;;
  http:*) http -T "$1" "${remote%/}/lathe-glsl-${1##*/}" >/dev/null ;;
  redis*:*) server -x set "lathe-glsl-${1##*/}" <"$1" >/dev/null ;;
  esac
}

take() { # take ENTRY
  if { [ -f "$1" ] || fetch "$1"; } && "$XZ" -q -d -c "$1" >"$out.taken" && mv "$out.taken" "$out"; then
    touch -c "$1"
  else
    rm -f "$out.taken"
    false
  fi
}

keep() { # keep ENTRY
  mkdir -p "$folder"
  "$XZ" -0 -q -c "$out" >"$1.$$" && mv "$1.$$" "$1" && send "$1"
  rm -f "$1.$$"
  find "$folder" -type f -mtime +30 -exec rm -f {} +
  true
}

name=''
[ -z "$folder" ] || name=$({ printf '%s\n' "$what" && cat "$in"; } | sha256sum)
if [ "$name" ]; then
  "$verb" "$folder/${name%% *}"
else
  [ "$verb" = keep ]
fi
