// The plots: ours against the peers, time against size, share of the ceiling, roofline, spread of samples.

const sizeOrder = (a, b) => a.points - b.points || String(a.size).localeCompare(b.size);
const labelOf = (row) => `${row.op} ${row.dtype} ${row.size}`;

// Of each op, what peers take in units of what ours takes.
function drawPeers(tasks) {
  const found = [];
  for (const task of tasks)
    for (const row of task.peers)
      if (timed(row) && row.ratio > 0) found.push(row);
  if (!found.length) return null;
  const several = ordered(found.map((row) => row.dtype)).length > 1;
  const nameOf = (row) => several ? `${row.op} ${row.dtype}` : row.op;
  const lines = [...Map.groupBy(found, nameOf)].map(([name, list]) => ({ name, list,
    mean: geometricMean(list.map((row) => row.ratio)) })).sort((a, b) => b.mean - a.mean);
  const low = Math.min(0.5, ...found.map((row) => row.ratio)) * 0.9, high = Math.max(2, ...found.map((row) => row.ratio)) * 1.1;
  const left = 9 + 7.2 * Math.max(...lines.map((line) => line.name.length)), width = 1100, step = 20, top = 24;
  const height = top + step * lines.length + 30;
  const at = logScale(low, high, left, width - 20);
  const chart = element("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": "How many times as long as ours each peer takes, by op" });
  for (const value of ticks(low, high)) chart.append(
    element("line", { class: "grid", x1: at(value), x2: at(value), y1: top, y2: height - 26 }),
    element("text", { x: at(value), y: height - 10, "text-anchor": "middle" }, short(ratioText(value))));
  chart.append(element("line", { x1: at(1), x2: at(1), y1: top - 4, y2: height - 26, stroke: "var(--ink2)", "stroke-width": 1.5 }),
    element("text", { x: at(1) - 6, y: 13, "text-anchor": "end" }, "◂ the peer is faster"),
    element("text", { x: at(1) + 6, y: 13 }, "ours is faster ▸"));
  lines.forEach((line, i) => {
    const y = top + step * (i + 0.5);
    chart.append(element("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, line.name));
    for (const row of line.list) {
      if (row.ratio_low > 0) chart.append(element("line", { x1: at(Math.max(row.ratio_low, low)),
        x2: at(Math.min(row.ratio_high, high)), y1: y, y2: y, stroke: colour(row.backend), "stroke-width": 2, opacity: 0.5 }));
      chart.append(mark(row, at(row.ratio), y, `${labelOf(row)}: ${row.backend} takes ${ratioText(row.ratio)} as long as `
        + `${row.against} (${digits(row.ratio_low)} to ${digits(row.ratio_high)})`));
    }
  });
  return element("div", {}, legend(ordered(found.map((row) => row.backend))), element("div", { class: "scroll" }, chart));
}

// Time against size of one op, type and machine, a line for each variant; where dispatch goes from one to another.
function drawSizes(some, width = 720) {
  const done = some.filter(timed);
  if (ordered(done.map((row) => row.points)).length < 2) return null;
  const span = (values) => ({ low: Math.min(...values), high: Math.max(...values) });
  const drawn = plane(width, 360,
    { ...span(done.map((row) => row.points)), text: countText, title: "points" },
    { ...span(done.map((row) => row.real_time)), text: timeText, title: "time of a call" },
    `Time against size of ${done[0].op}`);
  const place = (row) => [drawn.atX(row.points), drawn.atY(row.real_time)];
  for (const list of Map.groupBy(done, (row) => row.variant).values())
    drawn.chart.append(element("path", { d: "M" + list.sort(sizeOrder).map((row) => place(row).join(" ")).join("L"),
      fill: "none", stroke: colour(list[0].backend), "stroke-width": 1.6, "stroke-dasharray": list[0].peer ? "5 4" : null }));
  const chosen = done.filter((row) => row.dispatched).sort(sizeOrder);
  chosen.forEach((row, i) => {
    if (i && chosen[i - 1].variant !== row.variant) {
      const x = (drawn.atX(row.points) + drawn.atX(chosen[i - 1].points)) / 2;
      drawn.chart.append(element("line", { x1: x, x2: x, y1: drawn.top, y2: drawn.bottom, stroke: "var(--ink2)", "stroke-dasharray": "2 3" }),
        element("text", { x: x - 5, y: drawn.top + 12 + 14 * (i % 3), "text-anchor": "end" },
          `${row.variant.split("__")[1] || row.variant} from here ▸`));
    }
    const [x, y] = place(row);
    drawn.chart.append(element("circle", { cx: x, cy: y, r: 8.5, fill: "none", stroke: "var(--ink)", "stroke-width": 1.3 }));
  });
  for (const row of done) drawn.chart.append(mark(row, ...place(row), `${row.variant} ${row.size}: ${timeText(row.real_time)}`));
  return element("div", {}, legend(ordered(done.map((row) => row.backend))), element("div", { class: "scroll" }, drawn.chart));
}

// The share of the ceiling that dispatch's choice reaches, a cell for each op and size.
function drawMap(tasks) {
  const shown = tasks.filter((task) => task.chosen && task.chosen.ceiling_share > 0);
  if (!shown.length) return null;
  const several = ordered(shown.map((task) => task.dtype)).length > 1 || ordered(shown.map((task) => task.machine)).length > 1;
  const nameOf = (task) => several ? `${task.op} ${task.dtype}${reports.length > 1 ? " " + machineName(task.machine) : ""}` : task.op;
  const sizes = ordered([...shown].sort(sizeOrder).map((task) => task.size));
  const table = element("table", {}, element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "op"),
    ...sizes.map((size) => element("th", { class: "n", scope: "col" }, size)))));
  const body = element("tbody");
  for (const [name, list] of Map.groupBy(shown, nameOf)) {
    const bySize = new Map(list.map((task) => [task.size, task]));
    body.append(element("tr", {}, element("th", { scope: "row" }, name), ...sizes.map((size) => {
      const task = bySize.get(size);
      if (!task) return element("td", { class: "cell" });
      const share = task.chosen.ceiling_share;
      const strong = Math.min(share, 1) > 0.55;
      return element("td", { class: "cell", style: `background: rgba(var(--ramp), ${(0.06 + 0.84 * Math.min(share, 1)).toFixed(2)})` },
        element("button", { type: "button", style: strong ? "color:#fff" : "", onclick: () => showDetail(task.chosen),
          "aria-label": `${name} ${size}: ${percent(share)} of the ceiling` }, `${task.chosen.above_ceiling ? "!" : ""}${Math.round(100 * share)}`));
    })));
  }
  table.append(body);
  return element("div", { class: "scroll" }, table);
}

// Every task's fastest row by what it computes for each byte, under the rates that were measured.
function drawRoofline(some, width = 560) {
  const done = some.filter((row) => timed(row) && row.flops > 0 && row.bytes > 0);
  if (!done.length) return null;
  const roofs = new Map();
  let peak = 0;
  for (const row of done) {
    if (row.ceiling) roofs.set(row.ceiling, Math.max(roofs.get(row.ceiling) || 0, row.ceiling_bytes_per_second));
    peak = Math.max(peak, row.ceiling_flops_per_second || 0);
  }
  const dense = done.map((row) => row.flops / row.bytes), rates = done.map((row) => row.flops_per_second);
  const best = Math.max(0, ...roofs.values());
  const x = { low: Math.min(...dense) / 1.5, high: Math.max(...dense) * 1.5, text: countText, title: "operations for each byte" };
  const y = { low: Math.min(...rates) / 1.5, high: Math.max(...rates, Math.min(peak || Infinity, best * x.high)) * 1.3,
    text: countText, title: "operations a second" };
  const drawn = plane(width, 380, x, y, `Roofline of ${deviceOf(done[0])}`);
  [...roofs].sort((a, b) => b[1] - a[1]).forEach(([name, rate], i) => {
    const at = (dens) => Math.min(rate * dens, peak || Infinity);
    const from = Math.max(x.low, y.low / rate), to = Math.min(x.high, y.high / rate);
    drawn.chart.append(element("path", { d: `M${drawn.atX(from)} ${drawn.atY(at(from))}L${drawn.atX(to)} ${drawn.atY(at(to))}`,
      stroke: "var(--ink2)", "stroke-width": 1, opacity: 0.55, fill: "none" },
      element("title", {}, `${name}: ${digits(rate / 1e9)} GB/s`)));
    if (i === 0 || i === roofs.size - 1) drawn.chart.append(element("text", { x: drawn.atX(to) - 4, y: drawn.atY(at(to)) + (i ? 26 : 12),
      "text-anchor": "end" }, `${name} ${digits(rate / 1e9)} GB/s`));
  });
  if (peak) drawn.chart.append(element("line", { x1: drawn.left, x2: drawn.right, y1: drawn.atY(peak), y2: drawn.atY(peak),
    stroke: "var(--ink2)" }));
  for (const row of done) drawn.chart.append(mark(row, drawn.atX(row.flops / row.bytes), drawn.atY(row.flops_per_second),
    `${labelOf(row)}: ${row.variant}, ${digits(row.flops_per_second / 1e9)} G operations/s`, 3.5));
  return element("div", {}, element("p", { class: "say" }, deviceOf(done[0])), legend(ordered(done.map((row) => row.backend))),
    element("div", { class: "scroll" }, drawn.chart));
}

// The samples of a row in the order taken, with their median and its interval.
function drawSpread(row) {
  const samples = row.samples || [];
  if (samples.length < 2) return null;
  const width = 620, height = 190, left = 66, right = 8, top = 8, bottom = 24;
  const low = Math.min(...samples), high = Math.max(...samples), room = (high - low || low * 0.01) * 0.08;
  const atY = (value) => height - bottom - (value - low + room) / (high - low + 2 * room || 1) * (height - top - bottom);
  const atX = (i) => left + (i + 0.5) / samples.length * (width - left - right);
  const chart = element("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label":
    `${samples.length} samples from ${timeText(low)} to ${timeText(high)}` });
  if (Number.isFinite(row.noise)) {
    const half = row.noise * row.real_time;
    chart.append(element("rect", { x: left, width: width - left - right, y: atY(row.real_time + half),
      height: Math.max(1, atY(row.real_time - half) - atY(row.real_time + half)), fill: colour(row.backend), opacity: 0.18 }));
  }
  chart.append(element("line", { x1: left, x2: width - right, y1: atY(row.real_time), y2: atY(row.real_time), stroke: "var(--ink2)" }));
  let last = -Infinity;
  for (const value of [low, row.real_time, high].sort((a, b) => a - b)) {
    if (last - atY(value) < 13 && last > 0) continue;
    last = atY(value);
    chart.append(element("text", { x: left - 6, y: atY(value) + 4, "text-anchor": "end" }, timeText(value)));
  }
  samples.forEach((value, i) => chart.append(element("circle", { cx: atX(i), cy: atY(value), r: 2.5, fill: colour(row.backend) })));
  chart.append(element("text", { x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle" }, "samples, in the order taken"));
  return element("div", { class: "scroll" }, chart);
}
