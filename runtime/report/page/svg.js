// Drawing: elements, scales and axes as SVG.

function element(name, attributes = {}, ...children) {
  const drawn = ["svg", "g", "line", "path", "circle", "rect", "text", "title"].includes(name);
  const made = drawn ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const logScale = (low, high, from, to) => (value) =>
  from + (Math.log(value) - Math.log(low)) / (Math.log(high / low) || 1) * (to - from);

// Round values in a range, in steps of decades or finer where there are few.
function ticks(low, high) {
  for (const steps of [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7]]) {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
      for (const step of steps) {
        const value = step * 10 ** power;
        if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
      }
    if (found.length >= 3 || steps.length === 6)
      return found.length <= 9 ? found : found.filter((_, i) => i % Math.ceil(found.length / 8) === 0);
  }
  return [];
}

// A plane with logarithmic axes; x and y: { low, high, text, title }.
function plane(width, height, x, y, title) {
  const left = 62, right = 14, top = 10, bottom = 42;
  const chart = element("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title });
  const atX = logScale(x.low, x.high, left, width - right), atY = logScale(y.low, y.high, height - bottom, top);
  for (const value of ticks(y.low, y.high)) chart.append(
    element("line", { class: "grid", x1: left, x2: width - right, y1: atY(value), y2: atY(value) }),
    element("text", { x: left - 6, y: atY(value) + 4, "text-anchor": "end" }, short(y.text(value))));
  for (const value of ticks(x.low, x.high)) chart.append(
    element("line", { class: "grid", x1: atX(value), x2: atX(value), y1: top, y2: height - bottom }),
    element("text", { x: atX(value), y: height - bottom + 16, "text-anchor": "middle" }, short(x.text(value))));
  chart.append(
    element("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
    element("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, x.title),
    element("text", { x: 0, y: 0, "text-anchor": "middle", transform: `translate(12 ${(top + height - bottom) / 2}) rotate(-90)` },
      y.title));
  return { chart, atX, atY, left, right: width - right, top, bottom: height - bottom };
}

const colours = { scalar: "scalar", sse2: "sse2", avx2: "avx2", avx512: "avx512", neon: "neon", cuda: "cuda",
  vulkan: "vulkan", numpy: "numpy", torch: "torch", "torch.compile": "compile", openblas: "blas" };
const colour = (backend) => `var(--${colours[backend] || "other"})`;

// A row as a dot, or a diamond for a peer, which tells of itself and opens on a click.
function mark(row, x, y, text, size = 4.5) {
  const shape = row.peer
    ? element("path", { d: `M${x} ${y - size - 1}L${x + size + 1} ${y}L${x} ${y + size + 1}L${x - size - 1} ${y}Z` })
    : element("circle", { cx: x, cy: y, r: size });
  const group = element("g", { tabindex: 0, role: "button", "aria-label": text, fill: colour(row.backend),
    stroke: "var(--surface)", "stroke-width": 1.2, onclick: () => showDetail(row),
    onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); showDetail(row); } },
    onmouseenter: (event) => showTip(text, event), onmouseleave: hideTip, onfocus: hideTip },
    element("circle", { cx: x, cy: y, r: size + 5, fill: "transparent", stroke: "none" }), shape);
  return group;
}

function legend(backends) {
  const peers = new Set(rows.filter((row) => row.peer).map((row) => row.backend));
  return element("div", { class: "legend" }, ...backends.map((name) =>
    element("span", { class: peers.has(name) ? "peer" : "", style: `--c:${colour(name)}` }, name)));
}

const tip = document.getElementById("tip");
function showTip(text, event) {
  tip.textContent = text;
  tip.hidden = false;
  tip.style.left = `${Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.max(event.clientY - tip.offsetHeight - 10, 4)}px`;
}
function hideTip() { tip.hidden = true; }
