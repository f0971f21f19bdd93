#!/bin/sh
# cache.sh - keeps what a build has made of a file, for other builds.
#   cache.sh take FOLDER WHAT IN OUT   true where OUT, as it was made of such an IN, is in the folder and could be had
#   cache.sh keep FOLDER WHAT IN OUT   puts it there, where that can be done; always true
# WHAT says how it is made: the programs' versions and options. An entry's name is a hash of WHAT and of all that is in
# IN. It is packed, with a checksum, and written under another name first, so that builds may share the folder. What
# nobody has taken for 30 days is removed. Where FOLDER is empty nothing is kept. XZ: the xz program.

set -u
verb=$1 folder=$2 what=$3 in=$4 out=$5
exec 2>/dev/null # what cannot be had or kept is made anew

take() { # take ENTRY
  if [ -f "$1" ] && "$XZ" -q -d -c "$1" >"$out.taken" && mv "$out.taken" "$out"; then
    touch -c "$1"
  else
    rm -f "$out.taken"
    false
  fi
}

keep() { # keep ENTRY
  mkdir -p "$folder"
  "$XZ" -0 -q -c "$out" >"$1.$$" && mv "$1.$$" "$1"
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
