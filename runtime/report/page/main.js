// The page: the machines, what it means, filters, and the sections that follow them.

let state = stateOfAddress();
const byId = (id) => document.getElementById(id);
const fill = (id, ...parts) => byId(id).replaceChildren(...parts.filter(Boolean));
const heading = (text, say) => element("div", {}, element("h2", {}, text), say ? element("p", { class: "say" }, say) : null);
const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

function facts(pairs) {
  return element("dl", {}, ...pairs.filter(([, value]) => value !== undefined && value !== null && value !== "")
    .flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

function drawMachines() {
  fill("machines", element("div", { class: "machines" }, ...reports.map((report, i) => {
    const c = report.context;
    return element("div", { class: "machine" }, element("strong", {}, machineName(i)), facts([
      ["processor", c.cpu_name], ["features", c.cpu_features], ["date", c.date], ["seed", c.seed], ["file", report.file],
      ["peers", (c.peers || []).join("; ")],
      ["command", element("code", {}, c.command || "")],
      ["interrupted", !c.interrupted ? null : c.rows_not_run ? `${number(c.rows_not_run)} rows not run`
        : "all rows have run, but not in as many rounds as were wanted"]]));
  })));
}

const largeFrom = 10000; // points from which a call's own cost says little

// How a peer compares over some tasks: how often ours is at least as fast, and within a fifth of it.
function against(tasks, name) {
  const found = tasks.flatMap((task) => task.peers).filter((row) => row.backend === name && timed(row) && row.ratio > 0);
  const ratios = found.map((row) => row.ratio), large = found.filter((row) => row.points >= largeFrom).map((row) => row.ratio);
  return ratios.length && { name, count: ratios.length, mean: geometricMean(ratios), large: large.length && geometricMean(large),
    atLeast: ratios.filter((r) => r >= 1).length / ratios.length, within: ratios.filter((r) => r >= 1 / 1.2).length / ratios.length };
}

const isFailed = (row) => ["wrong", "unproved", "killed"].includes(row.status);

function drawMeaning(some, tasks) {
  const ours = some.filter((row) => !row.peer), right = ours.filter((row) => row.status === "right").length;
  const failed = ours.filter(isFailed).length, above = ours.filter((row) => row.above_ceiling).length;
  const skipped = ours.length - right - failed;
  const shares = tasks.map((task) => task.chosen && task.chosen.ceiling_share).filter((share) => share > 0);
  const losses = tasks.filter((task) => task.fastest).map((task) => task.chosen.real_time / task.fastest.real_time - 1);
  const peers = ordered(some.filter((row) => row.peer).map((row) => row.backend)).map((name) => against(tasks, name)).filter(Boolean);
  fill("meaning",
    element("p", {}, `${plural(ours.length, "row")} of ${plural(ordered(ours.map((row) => row.op)).length, "op")}: ${number(right)} right, `,
      element("span", { class: failed ? "bad" : "" }, `${number(failed)} wrong or not proved right`),
      above ? element("span", { class: "bad" }, `, ${number(above)} above the ceiling`) : "", `, ${number(skipped)} could not run here.`),
    losses.length ? element("p", {}, `Dispatch's choice is within 5 % of the fastest variant in ${percent(losses.filter((loss) => loss <= 0.05).length
      / losses.length)} of ${plural(losses.length, "task")}` + (shares.length ? `, and moves a median of ${percent(median(shares))} of what this machine `
      + "was measured to move at that size." : ".")) : null,
    element("p", {}, peers.length ? peers.map((p) => `Beside ${p.name}, ours is at least as fast in ${percent(p.atLeast)} of ${number(p.count)} `
      + `comparisons, ${ratioText(p.mean)} as fast in the geometric mean`
      + (p.large ? `, ${ratioText(p.large)} from ${short(countText(largeFrom))} points on.` : ".")).join(" ")
      : "No other library was timed beside it: --peers numpy,torch does that."));
}

function setState(name, value) {
  if (value) state[name] = value; else delete state[name];
  putAddress(state);
  draw();
}

function drawFilters() {
  const labels = { machine: "machine", op: "op", backend: "backend", dtype: "precision", size: "size" };
  fill("filters", ...filterNames.map((name) => {
    const source = name === "size" ? [...rows].sort(sizeOrder) : rows;
    const values = ordered(source.filter((row) => name !== "backend" || !row.peer).map((row) => valueOf(row, name)));
    if (values.length < 2 && !state[name]) return null;
    const here = new Set(kept(state, name).map((row) => valueOf(row, name)));
    const select = element("select", { name, onchange: (event) => setState(name, event.target.value) },
      element("option", { value: "" }, "all"), ...values.filter((value) => here.has(value) || value === state[name])
        .map((value) => element("option", { value, selected: value === state[name] }, value)));
    select.value = state[name] || "";
    return element("label", {}, labels[name], select);
  }), filterNames.some((name) => state[name]) ? element("button", { type: "button", id: "clear", onclick: () => {
    state = {};
    putAddress(state);
    draw();
  } }, "Clear filters") : null);
}

function drawProblems(some) {
  const bad = some.filter((row) => isFailed(row) || (row.above_ceiling && !row.peer));
  const reasons = Map.groupBy(some.filter((row) => row.status === "skipped"), (row) => `${row.backend}\n${row.reason}`);
  if (!bad.length && !reasons.size) return fill("problems");
  fill("problems", heading("What was not right, or did not run"),
    element("div", { class: "scroll" }, element("table", {}, element("tbody", {},
      ...bad.slice(0, 50).map((row) => element("tr", { class: row.peer ? "" : "failed" }, element("td", {}, rowLink(row, row.variant)),
        element("td", { class: "n" }, row.size), element("td", {}, row.peer ? "peer " + row.status : row.above_ceiling ? "above its ceiling" : row.status),
        element("td", {}, row.above_ceiling ? `${percent(row.ceiling_share)} of ${row.ceiling}: that was measured too low, or its bytes are fewer` : row.reason))),
      ...[...reasons.values()].map((list) => element("tr", {}, element("td", {}, list[0].backend), element("td", { class: "n" }, plural(list.length, "row")),
        element("td", {}, "skipped"), element("td", {}, list[0].reason)))))));
}

function drawPeersSection(tasks) {
  const chart = drawPeers(tasks);
  if (!chart) return fill("peers");
  const names = ordered(tasks.flatMap((task) => task.peers).map((row) => row.backend));
  fill("peers", heading("Ours against the peers", "How many times as long as dispatch's choice each library takes on the same inputs, "
      + "checked by the same bound; the bar is the ratio's 95 % interval, and a diamond is a size."),
    element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...["peer", "comparisons", "at least as fast", "within 20 % of it", "geometric mean", `that from ${short(countText(largeFrom))} points on`]
      .map((text, i) => element("th", { class: i ? "n" : "" }, text)))), element("tbody", {}, ...names.map((name) => against(tasks, name)).filter(Boolean)
      .map((p) => element("tr", {}, element("td", {}, p.name), element("td", { class: "n" }, number(p.count)),
        element("td", { class: "n" }, percent(p.atLeast)), element("td", { class: "n" }, percent(p.within)), element("td", { class: "n" }, ratioText(p.mean)), element("td", { class: "n" }, p.large ? ratioText(p.large) : "")))))),
    chart);
}

function drawSizesSection(some) {
  const groups = Map.groupBy(some.filter(timed), (row) => [row.op, row.dtype, deviceOf(row)].join(" ").trim());
  const known = [...groups].filter(([, list]) => ordered(list.map((row) => row.points)).length > 1);
  // A peer's device is another, and it belongs to each chart of its op.
  const ours = known.filter(([, list]) => list.some((row) => !row.peer));
  if (!ours.length) return fill("sizes");
  const chosen = ours.find(([name]) => name === state.show) || ours[0];
  const first = chosen[1].find((row) => !row.peer);
  const shown = some.filter((row) => chosen[1].includes(row) || (row.peer && row.op === first.op && row.dtype === first.dtype && row.machine === first.machine));
  const select = element("select", { id: "show", onchange: (event) => setState("show", event.target.value) },
    ...ours.map(([name]) => element("option", { value: name, selected: name === chosen[0] }, name)));
  fill("sizes", heading("Time against size", "A line for each variant; dispatch's choice has a ring, and a dotted line stands where it goes over to another."),
    element("div", { class: "choose" }, element("label", { for: "show" }, "op "), select), drawSizes(shown, 1000));
}

function drawRooflines(tasks) {
  const groups = Map.groupBy(tasks.filter((task) => task.fastest).map((task) => task.fastest), deviceOf);
  const charts = [...groups.values()].map((list) => drawRoofline(list, groups.size > 1 ? 560 : 1000)).filter(Boolean);
  if (!charts.length) return fill("roofline");
  fill("roofline", heading("Roofline", "The fastest row of each op and size; a line is a rate of memory that was measured here."),
    element("div", { class: groups.size > 1 ? "charts" : "" }, ...charts));
}

const rowLink = (row, text) => element("button", { type: "button", class: "link", onclick: () => showDetail(row) }, text);

const sorts = {
  "as run": null,
  "slowest first": (a, b) => (b.real_time || 0) - (a.real_time || 0),
  "farthest below the ceiling": (a, b) => (a.ceiling_share || 9) - (b.ceiling_share || 9),
  "largest error": (a, b) => (b.ulp / b.ulp_bound || 0) - (a.ulp / a.ulp_bound || 0),
  "noisiest": (a, b) => (b.noise || 0) - (a.noise || 0),
};
let most = 100;

function drawRows(some) {
  const order = sorts[state.sort], list = order ? [...some].sort(order) : some;
  const heads = ["op", "type", "size", "variant", "time", "±", "GB/s", "ceiling", "error/bound", ""];
  const select = element("select", { id: "sort", onchange: (event) => setState("sort", event.target.value) },
    ...Object.keys(sorts).map((name) => element("option", { value: order || name !== "as run" ? name : "", selected: name === state.sort }, name)));
  fill("rows", heading("Rows", "Times are medians of a call; a click shows the samples and the command that makes the row again."),
    element("div", { class: "choose" }, element("label", { for: "sort" }, "order "), select, element("span", {}, plural(list.length, "row"))),
    element("div", { class: "scroll" }, element("table", {},
      element("thead", {}, element("tr", {}, ...heads.map((head, i) => element("th", { class: i > 3 && i < 9 ? "n" : "", scope: "col" }, head)))),
      element("tbody", {}, ...list.slice(0, most).map((row) => element("tr",
        { class: row.fastest ? "fastest" : isFailed(row) && !row.peer ? "failed" : "" },
        element("td", {}, row.op), element("td", {}, row.dtype), element("td", {}, row.size),
        element("td", {}, rowLink(row, (row.dispatched ? "▸ " : "") + (row.variant.split("__")[1] || row.variant))),
        element("td", { class: "n" }, timed(row) ? timeText(row.real_time) : row.status),
        element("td", { class: "n" }, timed(row) && Number.isFinite(row.noise) ? `${digits(100 * row.noise, 2)} %` : ""),
        element("td", { class: "n" }, timed(row) ? digits(row.bytes_per_second / 1e9) : ""),
        element("td", { class: "n" }, row.ceiling_share ? percent(row.ceiling_share) : ""),
        element("td", { class: "n" }, row.ulp_bound ? `${digits(row.ulp, 2)}/${digits(row.ulp_bound, 2)}` : ""),
        element("td", {}, row.peer && row.ratio ? `${ratioText(row.ratio)} ours` : row.reason || "")))))),
    list.length > most ? element("button", { type: "button", onclick: () => { most *= 10; draw(); } }, `Show more of ${plural(list.length, "row")}`) : null);
}

// What --profile found of a row, under the names that the terminal has for it.
const profileOf = (row) => [["host", row.host_time], ["launch", row.launch_time], ["kernel", row.kernel_time],
  ["copy in", row.copy_in_time], ["copy out", row.copy_out_time], ["pin in", row.pinned_in_time],
  ["pin out", row.pinned_out_time], ["memory", row.memory_time]]
  .filter(([, ns]) => Number.isFinite(ns)).map(([name, ns]) => `${name} ${timeText(ns)}`).join(", ");

function showDetail(row) {
  const dialog = byId("detail");
  const text = command(row);
  const close = element("button", { type: "button", onclick: () => dialog.close() }, "Close");
  hideTip();
  dialog.replaceChildren(
    element("div", { class: "top" }, element("h2", {}, `${row.variant} at ${row.size}`), close),
    facts([["status", row.reason ? `${row.status}: ${row.reason}` : row.status], ["note", row.note],
      ["time", timed(row) ? `${timeText(row.real_time)}, mean ${timeText(row.mean)} ± ${timeText(row.stddev)}, ${timeText(row.min)} to ${timeText(row.max)}, `
        + `${number(row.sample_count)} samples` : null],
      ["threads", row.threads > 1 ? row.threads : null],
      ["cold", row.cold_time ? timeText(row.cold_time) : null],
      ["goes to", profileOf(row)],
      ["counts", row.cycles ? `${digits(row.instructions / row.cycles)} instructions a cycle, ${countText(row.cycles)} cycles, `
        + `${countText(row.cache_misses)} cache misses` : null],
      ["against ours", row.ratio ? `${ratioText(row.ratio)} the time of ${row.against} (${digits(row.ratio_low)} to ${digits(row.ratio_high)})` : null],
      ["moves", timed(row) ? `${digits(row.bytes_per_second / 1e9)} GB/s` + (row.ceiling_share ? `, ${percent(row.ceiling_share)} of ${row.ceiling}` : "") : null],
      ["error", row.ulp_bound ? `${digits(row.ulp)} of ${digits(row.ulp_bound)} ulp allowed` : null],
      ["device", deviceOf(row)], ["spec", row.source], ["template", row.template],
      ["again", element("code", {}, row.repro || text)]]),
    drawSpread(row) || "");
  dialog.showModal();
  close.focus();
}

function draw() {
  const some = kept(state), tasks = tasksOf(some);
  drawMeaning(some, tasks);
  drawFilters();
  drawProblems(some);
  drawPeersSection(tasks);
  drawSizesSection(some);
  const map = drawMap(tasks);
  if (map) fill("map", heading("Share of the ceiling", "In percent, of dispatch's choice: how much of what this machine was measured to move at that "
    + "size. Ops that compute much for each byte cannot reach it."), map);
  else fill("map");
  drawRooflines(tasks);
  drawRows(some);
}

drawMachines();
draw();
addEventListener("hashchange", () => { state = stateOfAddress(); draw(); });
byId("skip").addEventListener("click", (event) => { event.preventDefault(); byId("rows").scrollIntoView(); byId("rows").querySelector("select").focus(); });
