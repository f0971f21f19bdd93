#!/bin/sh
# test_page.sh - the page of a run, in a browser without a window: it draws, its filters work and live in the address, a
# click shows a row, and its console stays empty. Needs LATHE_SRC, LATHE_BENCH and LATHE_PYTHON.

. "$LATHE_SRC/tests/check.sh"
cd "$tmp" || exit 1

"$LATHE_BENCH" --fast --seed 1 --backend cpu --op add,exp,sum --size 100,1K,10K --peers numpy --profile \
  --threads 2 --json run.json --html run.html >output 2>stderr
is 'a run writes its page' test -s run.html
is 'that is whole' grep -q '^</html>' run.html
is 'and needs no network' sh -c '! grep -Eo "(src|href|url\()=?[\"'\''(]?(https?:)?//[^\"'\'' )]*" run.html'

"$LATHE_BENCH" report run.json run.json --html two.html 2>stderr
is 'stored files make a page' test -s two.html
"$LATHE_BENCH" report 2>stderr
is 'no file is refused' test $? = 2
is 'in a line' grep -x 'bench: no file; expected report FILE.json... \[--html PAGE.html (report.html)\], or report --history FOLDER \[--html PAGE.html\]' stderr
cp run.json kept.json
"$LATHE_BENCH" report kept.json --html ./kept.json 2>stderr
is 'a page in the place of a run is refused' test $? = 2
is 'which is kept' cmp run.json kept.json
echo '{"context": {}, "benchmarks": [{"name": "x"' >cut.json
"$LATHE_BENCH" report cut.json --html cut.html 2>stderr
is 'half a file is refused' test $? = 2
is 'with its place' grep '^bench: cut.json:[0-9]*: .*no JSON; expected what out/bench --json writes' stderr
is 'and writes nothing' test ! -e cut.html
# A text that would end the script it lies in.
"$LATHE_PYTHON" -c '
import json
run = json.load(open("run.json"))
run["benchmarks"][0]["reason"] = "</script><script>document.title = 1</script><!-- <script>"
json.dump(run, open("odd.json", "w"))'
"$LATHE_BENCH" report odd.json --html odd.html 2>stderr

browser=''
for name in chromium chromium-browser google-chrome; do
  command -v "$name" >/dev/null && browser=${browser:-$name}
done
if [ -z "$browser" ]; then
  echo 'test_page.sh: the page is not tried in a browser: there is no chromium (apt-get install chromium)'
  summary
  exit
fi

# shows PAGE SCRIPT: `shown` is what the script returns, in the page as it is drawn; `said`, what its console has.
shows() {
  page=${1%%#*}
  sed '$d' "$page" >tried.html
  cat >>tried.html <<EOS
<script>
addEventListener("load", () => {
  let found;
  try { found = (() => { $2 })(); } catch (error) { found = "threw " + error; }
  document.body.replaceChildren(Object.assign(document.createElement("pre"), { id: "found", textContent: "found: " + found }));
});
</script>
</html>
EOS
  case $1 in *'#'*) at="#${1#*#}" ;; *) at='' ;; esac
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/profile" --enable-logging=stderr \
    --window-size=1200,900 --dump-dom "file://$tmp/tried.html$at" >dom 2>log
  grep CONSOLE log >console
  sed -n 's/.*<pre id="found">found: \(.*\)<\/pre>.*/\1/p' dom >shown
}
has() { # has WHAT VALUE: what the script returned
  is "$1" test "$(cat shown)" = "$2"
  is "$1: the console is empty" test ! -s console
}

rows='document.querySelectorAll("#rows tbody tr").length'
set -- "$("$LATHE_PYTHON" -c '
import json
rows = json.load(open("run.json"))["benchmarks"]
print(min(len(rows), 100), min(100, len([r for r in rows if r["op"] == "exp"])))')"
all=${1% *} exp=${1#* }

shows run.html 'return ["peers", "sizes", "map", "roofline", "rows"].map((id) =>
  document.querySelectorAll(`#${id} svg [role=button], #${id} button`).length > 2).join()'
has 'every section is drawn' 'true,true,true,true,true'
shows run.html "return $rows"
has 'and the rows' "$all"
shows run.html 'return document.querySelector("#meaning").textContent.match(/ours is at least as fast in \d+ % of \d+/) !== null'
has 'and what they mean' true
shows run.html "const op = document.querySelector('select[name=op]'); op.value = 'exp'; op.dispatchEvent(new Event('change'));
  return $rows + location.hash"
has 'a filter narrows them, and is in the address' "$exp#op=exp"
shows 'run.html#op=exp&size=1K' 'return [...new Set([...document.querySelectorAll("#rows tbody tr")].map((row) =>
  row.children[0].textContent + row.children[2].textContent))].join()'
has 'an address filters' 'exp1K'
shows 'run.html#op=exp' "document.getElementById('clear').click(); return $rows + location.hash"
has 'filters are cleared' "$all"
shows run.html 'document.querySelector("#peers svg [role=button]").dispatchEvent(new MouseEvent("click"));
  const detail = document.getElementById("detail");
  return [detail.open, detail.querySelectorAll("svg circle").length > 2, detail.textContent.includes("--peers numpy --size")].join()'
has 'a click shows the samples and the command' 'true,true,true'
# Of a row that this machine can run: the first may want instructions that it lacks.
shows run.html 'return [...document.querySelectorAll("#rows tbody button")].some((button) => {
    button.click();
    return /goes tohost [0-9.]+ .?s, kernel [0-9.]+ .?s, memory /.test(document.getElementById("detail").textContent);
  })'
has 'and where the time of a call goes' true
shows run.html 'const mark = document.querySelector("#sizes svg [role=button]");
  mark.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", cancelable: true })); return document.getElementById("detail").open'
has 'and so does a key' true
shows two.html 'return document.querySelectorAll(".machine").length + " " + document.querySelectorAll("select[name=machine] option").length'
has 'two machines side by side' '2 3'
shows odd.html 'return document.title + [...document.querySelectorAll("#problems, #rows")].some(e => e.textContent.includes("<\/script>"))'
has 'no text of a row is run' 'lathe reporttrue'
shows run.html 'document.body.style.width = "340px"; return document.documentElement.scrollWidth <= innerWidth'
has 'nothing is wider than the window' true

summary
