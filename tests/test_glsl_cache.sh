#!/bin/sh
# test_glsl_cache.sh - gen/cache.sh, which keeps what a build made of a file of GLSL. Needs LATHE_SRC
# and LATHE_PYTHON.

. "$LATHE_SRC/tests/check.sh"
cd "$tmp" || exit 1
XZ=xz
export XZ
CCACHE_REMOTE_STORAGE='' # none, whatever this machine has
export CCACHE_REMOTE_STORAGE
cache() { sh "$LATHE_SRC/gen/cache.sh" "$@"; }
lacks() { ! cache take "$@"; }
entries() { find kept -type f | wc -l; }

echo source >in
echo made >out
is 'nothing is kept yet' lacks kept 'tool 1' in got
is 'keeps' cache keep kept 'tool 1' in out
is 'takes' cache take kept 'tool 1' in got
is 'takes what was kept' cmp out got
is 'a file of now, which ninja asks for' test got -nt out

echo 'source, changed' >other
is 'of another source there is nothing' lacks kept 'tool 1' other got.2
is 'of another tool there is nothing' lacks kept 'tool 2' in got.2
is 'nothing is left of what was not had' test -z "$(ls got.2* 2>/dev/null)"

# Whatever happens to an entry, what is taken is what was kept.
entry=$(find kept -type f)
size=$(wc -c <"$entry")
cp "$entry" whole
at=0
while [ "$at" -lt "$size" ]; do
  { head -c "$at" whole && printf '\377' && tail -c "+$((at + 2))" whole; } >"$entry"
  rm -f got
  cache take kept 'tool 1' in got
  is "byte $at is another" sh -c '[ ! -e got ] || cmp got out'
  at=$((at + 1))
done
: >"$entry"
is 'an empty entry' lacks kept 'tool 1' in got
head -c $((size - 3)) whole >"$entry"
is 'a short entry' lacks kept 'tool 1' in got
is 'one is kept in its place' cache keep kept 'tool 1' in out
is 'one is kept in its place' cache take kept 'tool 1' in got

# Many builds at once.
for n in 1 2 3 4 5 6 7 8; do
  (cache keep kept 'tool 1' in out && cache take kept 'tool 1' in "got.$n" && cmp "got.$n" out || echo "build $n" >>bad) &
done
wait
is 'builds share the folder' test ! -e bad
is 'builds share the folder' test "$(entries)" = 1

# What nobody took for a month goes, what was taken stays.
touch -d '40 days ago' "$entry"
is 'takes an old one' cache take kept 'tool 1' in got
is 'keeps another' cache keep kept 'tool 1' other out
is 'which leaves what was taken' test "$(entries)" = 2
touch -d '40 days ago' "$entry"
is 'keeps another' cache keep kept 'tool 2' other out
is 'and removes what was not' test ! -e "$entry"

# Without a cache, and where there can be none, a build goes on.
is 'no folder' lacks '' 'tool 1' in got
is 'no folder' cache keep '' 'tool 1' in out
is 'a folder that cannot be' cache keep /dev/null/kept 'tool 1' in out
is 'a folder that cannot be' lacks /dev/null/kept 'tool 1' in got

# Machines with folders of their own have a remote in common, as ccache has.
shared() { # shared NAME: one's own folder is empty, and what another one kept is had
  is "$1: one keeps" cache keep one 'tool 1' in out
  is "$1: another takes" cache take two 'tool 1' in got
  is "$1: what was kept" cmp out got
  is "$1: of another source there is nothing" lacks two 'tool 1' other got.2
  rm -rf one two got
}
CCACHE_REMOTE_STORAGE="file:$tmp/remote|umask=022 file:/another"
shared 'a folder'
CCACHE_REMOTE_STORAGE="file://$tmp/remote 2"
is 'a folder of which an entry is spoilt' cache keep one 'tool 1' in out
for entry in remote/lathe-glsl/*; do echo spoilt >"$entry"; done
CCACHE_REMOTE_STORAGE="file://$tmp/remote"
is 'is not had' lacks two 'tool 1' in got
is 'and is kept anew' cache keep two 'tool 1' in out
is 'and had' cache take three 'tool 1' in got
printf '#!/bin/sh\n[ "$1 $2" = "--get-config remote_storage" ] && echo "file:%s/elsewhere|read-only=false"\n' "$tmp" >ccache
chmod +x ccache
unset CCACHE_REMOTE_STORAGE
export CCACHE="$tmp/ccache"
shared "what ccache's configuration names"
is 'is there' test -n "$(ls elsewhere/lathe-glsl)"
CCACHE=/nonexistent
is 'no ccache' cache keep one 'tool 1' in out
is 'no ccache: one folder alone' lacks two 'tool 1' in got
export CCACHE_REMOTE_STORAGE=file:/dev/null/none
is 'a remote that cannot be' cache keep two 'tool 1' in out
is 'a remote that cannot be' cache take two 'tool 1' in got
CCACHE_REMOTE_STORAGE=redis://127.0.0.1:1
is 'a server that is down' cache keep three 'tool 1' other out
is 'a server that is down' lacks four 'tool 1' other got
CCACHE_REMOTE_STORAGE=http://127.0.0.1:1
is 'a web server that is down' cache keep three 'tool 1' other out
is 'a web server that is down' lacks four 'tool 1' other got
rm -rf one two three four
servers=''
trap '[ ! "$servers" ] || kill $servers; rm -rf "$tmp"' EXIT
if command -v curl >/dev/null; then
  cat >server.py <<'EOF'
import http.server

class Handler(http.server.BaseHTTPRequestHandler):
  kept = {}
  def do_PUT(self):
    self.kept[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
    self.send_response(201)
    self.end_headers()
  def do_GET(self):
    there = self.path in self.kept
    self.send_response(200 if there else 404)
    self.end_headers()
    self.wfile.write(self.kept.get(self.path, b"there is none"))

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open("port.new", "w").write(str(server.server_port))
__import__("os").rename("port.new", "port")
server.serve_forever()
EOF
  "$LATHE_PYTHON" server.py 2>http.log &
  servers="$servers $!"
  for _ in $(seq 50); do
    [ ! -e port ] || break
    sleep 0.1
  done
  export http_proxy=http://127.0.0.1:1 # as ccache asks, by no proxy
  CCACHE_REMOTE_STORAGE="http://127.0.0.1:$(cat port)/|connect-timeout=100"
  shared 'a web server'
  head -c 100000 /dev/urandom >out
  shared 'a web server with larger things'
  is 'which was asked for files beside its folders' grep -q 'PUT /lathe-glsl-[0-9a-f]* HTTP/1.1" 201' http.log
else
  echo 'skipped: a web server as remote: there is no curl'
fi
if command -v redis-server >/dev/null && command -v redis-cli >/dev/null; then
  port=$((20000 + $$ % 20000))
  redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$tmp" >redis.log 2>&1 &
  servers="$servers $!"
  for _ in $(seq 50); do
    ! redis-cli -p "$port" ping 2>/dev/null | grep -q PONG || break
    sleep 0.1
  done
  CCACHE_REMOTE_STORAGE="redis://127.0.0.1:$port|connect-timeout=100"
  shared 'a server'
  head -c 100000 /dev/urandom >out # bytes of all kinds, line breaks last
  printf '\n\n' >>out
  shared 'a server with larger things'
else
  echo 'skipped: a redis server as remote: there is none here'
fi
CCACHE_REMOTE_STORAGE=''

XZ=/nonexistent
is 'no xz' cache keep kept 'tool 1' other out
is 'no xz' lacks kept 'tool 1' other got

summary
