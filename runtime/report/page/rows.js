"use strict";
// The rows of all reports, what filters leave of them, and figures as people read them.

const reports = JSON.parse(document.getElementById("data").textContent);

const rows = reports.flatMap((report, machine) => report.rows.map((values) => {
  const row = { machine };
  report.fields.forEach((field, i) => { row[field] = values[i]; });
  return row;
}));

const ordered = (values) => [...new Set(values)];
const timed = (row) => row.status === "right" && row.real_time > 0;
const machineName = (index) => reports[index].context.host_name + (ordered(reports.map((r) => r.context.host_name)).length
  < reports.length ? ` (${index + 1})` : "");
const deviceOf = (row) => reports.length > 1 ? `${machineName(row.machine)} ${row.device || ""}` : row.device || "";

// A task is what variants are compared in: an op, type and size on one machine.
const taskKey = (row) => [row.machine, row.op, row.dtype, row.size].join("\n");

function tasksOf(some) {
  const tasks = new Map();
  for (const row of some) {
    const key = taskKey(row);
    if (!tasks.has(key)) tasks.set(key, { key, machine: row.machine, op: row.op, dtype: row.dtype, size: row.size,
      points: row.points, ours: [], peers: [] });
    tasks.get(key)[row.peer ? "peers" : "ours"].push(row);
  }
  for (const task of tasks.values()) {
    const done = task.ours.filter(timed);
    task.fastest = done.filter((row) => !row.rounds_factors).reduce((best, row) => !best || row.real_time < best.real_time ? row : best, null);
    task.chosen = done.find((row) => row.dispatched) || task.fastest;
  }
  return [...tasks.values()];
}

// ---- filters, which live in the address ------------------------------------------------------------

const filterNames = ["machine", "op", "backend", "dtype", "size"];

const valueOf = (row, name) => name === "machine" ? machineName(row.machine) : row[name];

function stateOfAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const state = {};
  for (const name of [...filterNames, "show", "sort"]) if (given.get(name)) state[name] = given.get(name);
  return state;
}

function putAddress(state) {
  const text = new URLSearchParams(state).toString();
  history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
}

// Peers stay with the backends that they are held against.
const passes = (row, state, but) => filterNames.every((name) => !state[name] || name === but
  || (name === "backend" && row.peer) || valueOf(row, name) === state[name]);
const kept = (state, but) => rows.filter((row) => passes(row, state, but));

// ---- figures ------------------------------------------------------------------------------------------

function digits(value, count = 3) {
  if (!Number.isFinite(value)) return "?";
  if (value === 0) return "0";
  const places = Math.max(0, count - 1 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(places, 12));
}
// A tick's label: no more digits than it needs.
const short = (text) => text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
function unit(value, steps) {
  let [factor, name] = steps[0];
  for (const step of steps) if (value >= step[0]) [factor, name] = step;
  return `${digits(value / factor)} ${name}`;
}
const timeText = (ns) => unit(ns, [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]]);
const countText = (n) => n >= 1e3 ? unit(n, [[1e3, "K"], [1e6, "M"], [1e9, "G"], [1e12, "T"]]).replace(" ", "")
  : digits(n, n >= 1 ? 3 : 2);
const percent = (share) => `${Math.round(100 * share)} %`;
const number = (n) => n.toLocaleString("en");
const ratioText = (ratio) => `${digits(ratio)}×`;
const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};
const geometricMean = (values) => Math.exp(values.reduce((sum, v) => sum + Math.log(v), 0) / values.length);

// The command that makes a row again. A peer's takes the variants that it is held against with it.
function command(row) {
  const program = reports[row.machine].context.executable || "out/bench";
  const extents = Object.values(row.sizes || {}).join("x") || row.size;
  const which = row.peer ? `--peers ${row.backend}` : `--variant ${row.variant}`;
  return `${program} --op ${row.op} --dtype ${row.dtype} ${which} --size ${extents} --seed ${row.seed}`;
}
