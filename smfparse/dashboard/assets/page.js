(() => {
"use strict";
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a7d00", "#7f7f7f"];
const { made, saved, csv } = tables;
const root = document.documentElement;
const one = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const state = { number: 0, from: 0, to: 0, shaded: null, aim: 0 };
const charts = [];
const LEAST = 0.001; /* smaller values are shown as less than this */
let data;

function drawn(name, attributes) {
  const found = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  return found;
}

function unpacked() {
  const bytes = Uint8Array.from(atob(one("#data").textContent), (each) => each.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(inflated(bytes)));
}

const shown = (value) => {
  if (value !== null && value !== undefined && value !== 0 && Math.abs(value) < LEAST) return `<${LEAST}`;
  return marked(value);
};
/* Figures that stand below each other have the same decimals: four digits of the highest, or one more, up to two, for the lowest. */
function decimalsOf(values) {
  const known = values.filter((each) => each).map(Math.abs);
  if (known.every(Number.isInteger)) return 0;
  const needed = (digits, value) => Math.max(digits - 1 - Math.floor(Math.log10(value)), 0);
  const enough = needed(4, Math.max(...known));
  return Math.min(Math.max(enough, Math.min(needed(2, Math.min(...known)), enough + 1, 2)), 12);
}
function aligned(value, decimals) {
  if (value === null || value === undefined) return "–";
  const least = 10 ** -decimals;
  if (value > 0 && value < least / 2) return `<${least.toFixed(decimals)}`;
  return value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}
const marked = (value) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1000 || Number.isInteger(value)) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(4)));
};
const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
const day = () => data.days[state.number];
const section = () => one(`#m${state.number}`);
const iso = (at) => new Date(at * 1000).toISOString().slice(0, 19);
const stamp = (at) => iso(at).replace("T", " ").replaceAll("-", "/").replace(/:00$/, "");
function spanned(from, to) {
  const [first, last] = [from, to].map(stamp);
  return `${first} – ${first.slice(0, 10) === last.slice(0, 10) ? last.slice(11) : last}`;
}
const mean = (values) => {
  const known = values.filter((each) => each !== null && each !== undefined);
  return known.length ? known.reduce((sum, each) => sum + each, 0) / known.length : null;
};
const highest = (values) => values.reduce((most, each) => (each !== null && each !== undefined && (most === null || each > most) ? each : most), null);

/* Times: each interval from its begin to its end; between two that are apart is nothing.
   A value with none behind it is drawn to the end of its interval. */
function steps(its, several) {
  const xs = [], from = [];
  its.start.forEach((begin, at) => {
    const end = its.end[at], next = its.start[at + 1];
    xs.push(its.first + begin); from.push(at);
    if (next === undefined || next - end > 1) {
      xs.push(its.first + end); from.push(at);
      if (next !== undefined) { xs.push(its.first + end + 0.01); from.push(-1); }
    } else if (several.some((values) => values[at] !== null && values[at + 1] === null)) {
      xs.push(its.first + end - 0.01); from.push(at);
    }
  });
  return { xs, from };
}
const stepped = (values, from) => from.map((at) => (at < 0 ? null : values[at]));
const span = (its) => [its.first, its.first + its.end[its.end.length - 1]];

async function copied(text, button) {
  try { await navigator.clipboard.writeText(text); }
  catch {
    const area = made("textarea"); area.value = text; document.body.append(area); area.select();
    document.execCommand("copy"); area.remove();
  }
  const before = button.textContent; button.textContent = "copied";
  setTimeout(() => { button.textContent = before; }, 1200);
}

/* One time for all charts. */
function zoom(from, to, told = true) {
  const [first, last] = span(day());
  const least = Math.min(60, last - first);
  if (to - from < least) { const middle = (from + to) / 2; from = middle - least / 2; to = middle + least / 2; }
  const length = Math.min(to - from, last - first);
  from = Math.max(first, Math.min(from, last - length));
  state.from = from; state.to = from + length;
  one("#span").textContent = spanned(state.from, state.to);
  for (const each of charts) { each.stale = true; if (each.number === state.number && each.inSight !== false) renewed(each); }
  brushed();
  if (told) linked();
}
function linked() {
  const [first, last] = span(day());
  const parts = [`qmgr=${encodeURIComponent(day().qmgr || day().system)}`];
  if (state.from > first || state.to < last) parts.push(`from=${iso(state.from)}`, `to=${iso(state.to)}`);
  history.replaceState(null, "", `#${parts.join("&")}`);
}
function followed() {
  const place = document.getElementById(location.hash.slice(1));
  if (place) { led(place); return; }
  const asked = new URLSearchParams(location.hash.slice(1));
  const named = asked.get("qmgr");
  const number = data.days.findIndex((each) => named && (each.qmgr || each.system) === named);
  choose(Math.max(number, 0));
  const [from, to] = ["from", "to"].map((each) => Date.parse(`${asked.get(each)}${(asked.get(each) || "").length === 16 ? ":00" : ""}Z`) / 1000);
  if (from < to) zoom(from, to);
}
/* A link to a part of the page shows its queue manager. */
function led(place) {
  const manager = place.closest(".manager"), number = manager ? Number(manager.dataset.number) : state.number;
  if (!brush || number !== state.number) choose(number, false);
  place.classList.add("open");
  place.scrollIntoView();
}
function choose(number, told = true) {
  state.number = number; state.shaded = null;
  all(".manager").forEach((each, at) => each.classList.toggle("shown", at === number));
  all(".manager-link").forEach((each, at) => each.setAttribute("aria-current", at === number));
  for (const place of all(".chart", section())) {
    place.style.setProperty("--rows", day().charts[place.dataset.panel].lines.length);
    if (!place.firstChild) waiting.observe(place);
  }
  overview();
  zoom(...span(day()), told);
}

/* The overview: what was put, and marks where findings are. */
let brush;
function overview() {
  const its = day(), [first, last] = span(its);
  const lines = (its.charts.messages || its.charts["verb-calls"] || Object.values(its.charts)[0] || { lines: [] }).lines;
  const values = lines.length ? lines[0].v : [];
  const most = highest(values) || 1, wide = last - first;
  brush = drawn("svg", { viewBox: `0 0 ${wide} 52`, preserveAspectRatio: "none", role: "img", "aria-label": "Overview of the time; drag to zoom" });
  let path = "";
  values.forEach((value, at) => { if (value !== null) path += `M${its.start[at]},44V${44 - 40 * value / most}H${its.end[at]}V44Z`; });
  brush.append(drawn("path", { class: "area", d: path || "M0,0" }));
  for (const [from, to, rank] of its.findings) if (rank <= 3 && to - from < 0.75 * wide) brush.append(drawn("rect", { class: "flag", x: from - first, y: 46, width: Math.max(to - from, wide / 400), height: 5 }));
  brush.append(drawn("rect", { class: "window", y: 1, height: 50 }));
  one("#brush").replaceChildren(brush, scale(first, last));
}
/* The times below the overview, each as far along as it is. */
function scale(first, last) {
  const found = made("div", { class: "scale", "aria-hidden": "true" });
  for (const at of marks(first, last, one("#brush").clientWidth)) {
    const share = (at - first) / (last - first), each = made("span", { text: tickText(at) });
    each.style.left = `${100 * share}%`; each.style.transform = `translateX(${-100 * share}%)`;
    found.append(each);
  }
  return found;
}
function brushed() {
  const [first, last] = span(day()), window = one(".window", brush);
  window.setAttribute("x", state.from - first); window.setAttribute("width", state.to - state.from);
  window.classList.toggle("whole", state.from <= first && state.to >= last);
}
function brushing() {
  const place = one("#brush");
  const at = (event) => { const box = place.getBoundingClientRect(), [first, last] = span(day()); return first + (last - first) * Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1); };
  let begun = null;
  place.addEventListener("pointerdown", (event) => { begun = at(event); place.setPointerCapture(event.pointerId); });
  place.addEventListener("pointermove", (event) => { if (begun !== null) { const now = at(event); if (Math.abs(now - begun) > 30) zoom(Math.min(begun, now), Math.max(begun, now), false); } });
  place.addEventListener("pointerup", (event) => {
    const now = at(event), [first, last] = span(day());
    if (begun !== null && Math.abs(now - begun) <= 30) { const half = Math.min(state.to - state.from, (last - first) / 4) / 2; zoom(now - half, now + half, false); }
    begun = null; linked();
  });
}

/* Drawings that are saved: what is shown of a panel, as SVG in the light colours. */
const savedPicture = (name, canvas) => canvas.toBlob((blob) => saved(`${name}.png`, [blob], "image/png"));
const savedDrawing = (chart) => saved(`${chart.name}.svg`, [new XMLSerializer().serializeToString(chart.vector())], "image/svg+xml");
function words(x, y, text, attributes = {}) {
  const found = drawn("text", { x: x.toFixed(1), y: y.toFixed(1), fill: "#1b1f24", ...attributes });
  found.textContent = text;
  return found;
}
function sheetOf(panel, top) {
  const size = { width: panel.left + panel.wide + 230, height: top + panel.high + 34 };
  const svg = drawn("svg", { ...size, viewBox: `0 0 ${size.width} ${size.height}`, "font-family": "system-ui, sans-serif", "font-size": 12 });
  const area = drawn("g", { transform: `translate(${panel.left},${top})` });
  svg.append(drawn("rect", { ...size, fill: "#fff" }), area);
  area.append(words(0, -14, `${panel.title}, ${panel.unit}: ${day().qmgr || day().system}, ${one("#span").textContent}`, { "font-weight": 600 }));
  return { svg, area };
}
const TICKS = [60, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 604800];
const TICK = 58; /* pixels from one mark to the next, at least */
function marks(from, to, wide) {
  const apart = TICKS.find((each) => (to - from) / each <= wide / TICK) || TICKS[TICKS.length - 1], found = [];
  for (let at = Math.ceil(from / apart) * apart; at <= to; at += apart) found.push(at);
  return found;
}
function tickText(at) {
  const text = iso(at), clock = text.slice(11, 16);
  return clock === "00:00" ? text.slice(5, 10).replace("-", "/") : text.slice(17) === "00" ? clock : text.slice(11);
}
function timed(area, panel, x) {
  for (const at of marks(state.from, state.to, panel.wide)) area.append(drawn("path", { d: `M${x(at).toFixed(1)},0V${panel.high}`, stroke: "#d5d9de" }), words(x(at), panel.high + 16, tickText(at), { "text-anchor": "middle", fill: "#57606a" }));
}
/* The values of intervals in the time that is shown, and the part of each that is in it. */
function inTime(its, values) {
  const found = [];
  values.forEach((value, at) => {
    const [from, to] = [Math.max(its.first + its.start[at], state.from), Math.min(its.first + its.end[at], state.to)];
    if (value !== null && value !== undefined && to > from) found.push({ from, to, value });
  });
  return found;
}

/* What is said of the objects of a panel that are not drawn. */
function left({ more, zero }) {
  const words = [more && `${more} more are not drawn`, zero && `${zero} more are 0 all the time`].filter(Boolean).join(", ");
  return words ? [made("p", { class: "note", text: words })] : [];
}

/* An object has the colour of the first chart that draws it in all charts, but where another line of a chart has it too. */
const inks = new Map();
function inksOf(lines, title) {
  const of = lines.map(({ name }) => name === title ? 0 : inks.get(name)).map((ink, at, every) => every.indexOf(ink) === at ? ink : undefined);
  lines.forEach(({ name }, at) => {
    of[at] ??= Math.max(COLOURS.findIndex((_, ink) => !of.includes(ink)), 0);
    if (name !== title && !inks.has(name)) inks.set(name, of[at]);
  });
  return of;
}

/* A panel of lines. */
class Lines {
  constructor(place, name) {
    const its = day(), { xs, from } = steps(its, its.charts[name].lines.map((line) => line.v));
    Object.assign(this, { place, name, number: state.number, panel: data.panels[name], its, chart: its.charts[name], drawn: [] });
    const taken = inksOf(this.chart.lines, this.panel.title);
    this.series = this.chart.lines.map((line, at) => ({ name: line.name, colour: COLOURS[taken[at]], ink: `--s${taken[at]}`, values: stepped(line.v, from), raw: line.v }));
    const old = its.before && its.before.charts[name] ? this.earlier(its.before) : [], line = { width: 1.5, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } };
    const columns = [xs];
    this.bands = [];
    if (its.thinned) this.chart.lines.forEach((each, at) => {
      columns.push(stepped(each.hi, from), stepped(each.lo, from));
      this.drawn.push(...["high", "low"].map((label) => ({ ...line, label, stroke: "transparent", width: 0 })));
      this.bands.push({ series: [this.drawn.length - 1, this.drawn.length], fill: () => `${colour(this.series[at].ink)}22` });
    });
    for (const each of [...this.series].reverse()) {
      columns.push(each.values);
      this.drawn.push({ ...line, label: each.name, stroke: () => colour(each.ink) });
    }
    this.columns = old.length ? uPlot.join([old, columns]) : columns;
    this.frame();
    this.plot();
  }
  /* Where the column of a series is: what is drawn later is in front, and the first one has to be seen. */
  at(number) { return this.columns.length - 1 - number; }
  earlier(before) {
    const there = before.charts[this.name], { xs, from } = steps(before, Object.values(there)), old = [xs];
    for (const each of this.series) {
      if (!there[each.name]) continue;
      old.push(stepped(there[each.name], from));
      this.drawn.push({ label: `${each.name}, earlier`, stroke: () => colour(each.ink), dash: [5, 4], width: 1, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } });
    }
    return old;
  }
  frame() {
    const { panel } = this;
    const button = (text, act, label = text) => made("button", { type: "button", text, "aria-label": `${label}: ${panel.title}`, on: { click: (event) => act(event.target) } });
    this.canvas = made("div", { class: "canvas", role: "img", "aria-label": `${panel.title}, ${panel.unit}, over time` });
    this.legend = made("div", { class: "legend", tabindex: "0", role: "region", "aria-label": `Series of ${panel.title}` });
    this.more = made("div", { class: "more", hidden: "" });
    this.place.replaceChildren(
      made("header", {}, made("h4", { text: panel.title }), made("small", { text: panel.unit }), made("span", {},
        button("ƒ", () => this.told(), "Formula"), button("table", () => this.listed()), button("CSV", () => csv(this.name, this.rows())), button("PNG", () => this.saved()), button("SVG", () => savedDrawing(this)))),
      made("div", { class: "plot" }, this.canvas, this.legend), this.more);
    this.cells = this.series.map(() => [made("td"), made("td"), made("td")]);
    const body = made("tbody", {}, ...this.series.map((each, at) => {
      const box = drawn("svg", { viewBox: "0 0 14 8" }); box.append(drawn("rect", { width: 14, height: 4, y: 2, class: each.ink.slice(2) }));
      const toggle = made("button", { type: "button", "aria-pressed": "true", on: { click: () => this.toggled(at, toggle) } }, box, made("bdi", { text: each.name }));
      return made("tr", {}, made("th", { scope: "row" }, toggle), ...this.cells[at]);
    }));
    this.legend.append(made("table", {}, made("thead", {}, made("tr", {}, ...["Series", "cursor", "mean", "max"].map((text) => made("th", { scope: "col", text })))), body));
    this.legend.append(...left(this.chart));
  }
  toggled(at, button) {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", on);
    this.view.setSeries(this.at(at), { show: on });
  }
  told() {
    if (!this.more.hidden && one("pre", this.more)) { this.more.hidden = true; return; }
    const copy = made("button", { type: "button", text: "copy the command", on: { click: () => copied(this.panel.sql, copy) } });
    const limit = this.panel.limit === null ? "" : ` Limit ${this.panel.limit}: rule ${this.panel.limit_of}.`;
    this.more.replaceChildren(made("p", { text: `${this.panel.formula}.${limit} More: smfparse report ${this.panel.report}.` }), copy, made("pre", { text: this.panel.sql, tabindex: "0" }));
    this.more.hidden = false;
  }
  rows() {
    const { its } = this;
    const rows = [["from", "to", ...this.series.map((each) => each.name)]];
    its.start.forEach((begin, at) => {
      const [from, to] = [its.first + begin, its.first + its.end[at]];
      if (to > state.from && from < state.to) rows.push([iso(from), iso(to), ...this.series.map((each) => each.raw[at])]);
    });
    return rows;
  }
  listed() {
    if (!this.more.hidden && one("table", this.more)) { this.more.hidden = true; return; }
    const [head, ...rows] = this.rows();
    const some = rows.slice(0, 300);
    this.more.replaceChildren(made("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `Values of ${this.panel.title}` }, made("table", { class: "data" },
      made("thead", {}, made("tr", {}, ...head.map((text) => made("th", { scope: "col", text })))),
      made("tbody", {}, ...some.map((row) => made("tr", {}, ...row.map((each, at) => made("td", { class: at > 1 ? "n" : "", text: at > 1 ? shown(each) : each.replace("T", " ") }))))))));
    if (rows.length > some.length) this.more.append(made("p", { class: "note", text: `The first ${some.length} of ${rows.length} intervals; zoom in, or use the CSV.` }));
    this.more.hidden = false;
  }
  saved() {
    const from = one("canvas", this.canvas), to = document.createElement("canvas"), high = 26 * devicePixelRatio;
    to.width = from.width; to.height = from.height + high;
    const pen = to.getContext("2d");
    pen.fillStyle = colour("--card"); pen.fillRect(0, 0, to.width, to.height);
    pen.fillStyle = colour("--ink"); pen.font = `${14 * devicePixelRatio}px system-ui, sans-serif`;
    pen.fillText(`${this.panel.title}, ${this.panel.unit}`, 8, 18 * devicePixelRatio);
    pen.drawImage(from, 0, high);
    savedPicture(this.name, to);
  }
  vector() {
    const panel = { ...this.panel, wide: 760, high: 180, left: 64 }, { svg, area } = sheetOf(panel, 34);
    const lines = this.series.filter((_, at) => this.view.series[this.at(at)].show);
    const kept = lines.map((each) => inTime(this.its, each.raw)), most = this.top(highest(kept.flat().map((each) => each.value)));
    const x = (at) => ((at - state.from) / (state.to - state.from)) * panel.wide, y = (value) => panel.high * (1 - Math.min(Math.max(value / most, 0), 1));
    timed(area, panel, x);
    for (let mark = 0; mark <= 4; mark += 1) {
      const value = (most / 1.08) * mark / 4;
      area.append(drawn("path", { d: `M0,${y(value).toFixed(1)}H${panel.wide}`, stroke: "#d5d9de" }), words(-6, y(value) + 4, marked(value), { "text-anchor": "end", fill: "#57606a" }));
    }
    [...lines.entries()].reverse().forEach(([number, each]) => {
      const path = kept[number].reduce((text, one, at) => `${text}${at && kept[number][at - 1].to === one.from ? "L" : "M"}${x(one.from).toFixed(1)},${y(one.value).toFixed(1)}H${x(one.to).toFixed(1)}`, "");
      area.append(drawn("path", { d: path || "M0,0", fill: "none", stroke: each.colour, "stroke-width": 1.4 }), drawn("rect", { x: panel.wide + 12, y: 2 + number * 18, width: 14, height: 4, fill: each.colour }), words(panel.wide + 32, 8 + number * 18, each.name));
    });
    if (panel.limit !== null && panel.limit <= most) area.append(drawn("path", { d: `M0,${y(panel.limit).toFixed(1)}H${panel.wide}`, stroke: "#b3261e", "stroke-dasharray": "6 4" }), words(4, y(panel.limit) - 3, `${shown(panel.limit)} ${panel.limit_of}`, { fill: "#b3261e" }));
    return svg;
  }
  plot() {
    if (this.view) this.view.destroy();
    const ink = colour("--dim"), grid = { stroke: colour("--edge"), width: 1 };
    const axis = { stroke: ink, grid, ticks: grid, font: "11px system-ui, sans-serif" };
    this.view = new uPlot({
      width: Math.max(this.canvas.clientWidth, 200), height: 170, legend: { show: false }, bands: this.bands,
      tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
      cursor: { sync: { key: "time" }, drag: { x: true, y: false, setScale: false }, points: { size: 5 } },
      scales: { x: { time: true, range: () => [state.from, state.to] }, y: { range: (_, low, high) => [Math.min(0, low || 0), this.top(high)] } },
      axes: [{ ...axis, size: 30, values: (_, ticks) => ticks.map(tickText) }, { ...axis, size: 56, values: (_, ticks) => ticks.map(marked) }],
      series: [{}, ...this.drawn],
      hooks: { setCursor: [() => this.pointed()], setSelect: [(view) => this.selected(view)], drawAxes: [(view) => this.shade(view)], draw: [(view) => this.limit(view)] },
    }, this.columns, this.canvas);
    this.summed();
  }
  top(high) {
    const most = high > 0 ? high : 1, { limit, whole } = this.panel;
    if (whole !== null) return Math.max(most, whole);
    return (limit !== null && limit < 4 * most ? Math.max(most, limit) : most) * 1.08;
  }
  shade(view) {
    const { ctx, bbox } = view;
    const band = (from, to, fill) => {
      const [left, right] = [from, to].map((at) => Math.min(Math.max(view.valToPos(at, "x", true), bbox.left), bbox.left + bbox.width));
      ctx.fillStyle = fill; if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height);
    };
    ctx.save(); ctx.textAlign = "left";
    if (state.shaded) band(...state.shaded, colour("--shade"));
    for (const at of this.its.restarts) {
      const left = view.valToPos(at, "x", true);
      if (left >= bbox.left && left <= bbox.left + bbox.width) { ctx.fillStyle = colour("--bad"); ctx.fillRect(left, bbox.top, 2, bbox.height); ctx.fillText("restart", left + 4, bbox.top + 10 * devicePixelRatio); }
    }
    ctx.restore();
  }
  limit(view) {
    const { limit } = this.panel, { ctx, bbox } = view;
    if (limit === null) return;
    const at = view.valToPos(limit, "y", true);
    if (!(at >= bbox.top && at <= bbox.top + bbox.height)) return;
    ctx.save(); ctx.strokeStyle = ctx.fillStyle = colour("--bad"); ctx.setLineDash([6, 4]); ctx.beginPath();
    ctx.moveTo(bbox.left, at); ctx.lineTo(bbox.left + bbox.width, at); ctx.stroke();
    ctx.textAlign = "right"; ctx.textBaseline = "bottom"; ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.fillText(`${shown(limit)} ${this.panel.limit_of}`, bbox.left + bbox.width - 4, at - 2); ctx.restore();
  }
  pointed() {
    const at = this.view ? this.view.cursor.idx : null;
    this.series.forEach((_, number) => { this.cells[number][0].textContent = at === null || at === undefined ? "–" : aligned(this.columns[this.at(number)][at], this.decimals); });
  }
  selected(view) {
    const { left, width } = view.select;
    if (width < 4) return;
    const [from, to] = [left, left + width].map((each) => view.posToVal(each, "x"));
    view.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    zoom(from, to);
  }
  summed() {
    const { its } = this, inside = (_, at) => its.first + its.end[at] > state.from && its.first + its.start[at] < state.to;
    const figures = this.series.map((each) => { const some = each.raw.filter(inside); return [mean(some), highest(some)]; });
    this.decimals = decimalsOf(figures.flat());
    figures.forEach((several, number) => several.forEach((value, at) => { this.cells[number][at + 1].textContent = aligned(value, this.decimals); }));
  }
  zoom() {
    this.view.setScale("x", { min: state.from, max: state.to });
    this.summed();
  }
  sized() { this.view.setSize({ width: Math.max(this.canvas.clientWidth, 200), height: 170 }); }
}

/* A heat map: objects by time. */
class Heat {
  constructor(place, name) {
    Object.assign(this, { place, name, number: state.number, panel: data.panels[name], its: day(), chart: day().charts[name] });
    this.series = this.chart.lines.map((line) => ({ name: line.name, raw: line.v }));
    const many = this.series.length;
    this.canvas = made("canvas", { role: "img", "aria-label": `${this.panel.title} by queue over time`, on: { pointermove: (event) => this.pointed(event), dblclick: () => zoom(...span(day())) } });
    this.note = made("p", { class: "note", text: `Stronger colours show higher values; the highest is ${shown(this.most())} ${this.panel.unit}.` });
    this.more = made("div", { class: "more", hidden: "" });
    const button = (text, act, label = text) => made("button", { type: "button", text, "aria-label": `${label}: ${this.panel.title}`, on: { click: act } });
    place.replaceChildren(made("header", {}, made("h4", { text: this.panel.title }), made("small", { text: this.panel.unit }), made("span", {},
      button("ƒ", () => this.told(), "Formula"), button("table", () => this.listed()), button("CSV", () => csv(name, this.rows())), button("PNG", () => this.saved()), button("SVG", () => savedDrawing(this)))),
      made("div", { class: "heat" }, made("ul", {}, ...this.series.map((each) => made("li", {}, made("bdi", { text: each.name })))), this.canvas), this.note, ...left(this.chart), this.more);
    this.high = 18 * many;
    this.plot();
  }
  most() { return highest(this.series.map((each) => highest(each.raw))) || 0; }
  plot() {
    const wide = Math.max(this.canvas.parentElement.clientWidth - this.canvas.offsetLeft + this.canvas.parentElement.offsetLeft, 100), pen = this.canvas.getContext("2d");
    this.canvas.width = wide * devicePixelRatio; this.canvas.height = (this.high + 16) * devicePixelRatio;
    this.canvas.style.height = `${this.high + 16}px`;
    pen.scale(devicePixelRatio, devicePixelRatio);
    const x = (at) => Math.round((at - state.from) * wide / (state.to - state.from));
    this.cells(pen, wide, x);
    this.times(pen, wide, x);
  }
  /* A cell where the value of an interval is known; where it is not, nothing. */
  cells(pen, wide, x) {
    const { its } = this, most = Math.log1p(this.most()) || 1, places = [];
    its.start.forEach((begin, at) => {
      const from = x(its.first + begin), to = x(its.first + its.end[at]);
      if (to >= 0 && from <= wide) places.push([at, from, Math.max(to - from, 1)]);
    });
    pen.fillStyle = colour("--soft");
    this.series.forEach((each, row) => {
      let begun = null, end = 0;
      for (const [at, from, length] of [...places, [-1, wide, 0]]) {
        const known = at >= 0 && each.raw[at] !== null;
        if (begun !== null && (!known || from > end)) { pen.fillRect(begun, row * 18, end - begun, 18); begun = null; }
        if (known) { begun ??= from; end = from + length; }
      }
    });
    pen.fillStyle = colour("--hot");
    this.series.forEach((each, row) => {
      for (const [at, from, length] of places) {
        if (!each.raw[at]) continue;
        pen.globalAlpha = 0.08 + 0.92 * Math.log1p(each.raw[at]) / most;
        pen.fillRect(from, row * 18 + 1, length, 16);
      }
    });
    pen.globalAlpha = 1;
  }
  /* The times below, where the queue manager was started, and the time of a finding. */
  times(pen, wide, x) {
    pen.fillStyle = colour("--bad");
    for (const at of this.its.restarts) pen.fillRect(x(at), 0, 2, this.high);
    if (state.shaded) {
      const [from, to] = state.shaded.map(x);
      pen.strokeStyle = colour("--warn"); pen.lineWidth = 2; pen.strokeRect(from, 1, to - from, this.high - 2);
    }
    pen.fillStyle = colour("--dim"); pen.font = "11px system-ui, sans-serif"; pen.textAlign = "center";
    for (const at of marks(state.from, state.to, wide)) {
      const text = tickText(at), half = pen.measureText(text).width / 2;
      pen.fillText(text, Math.min(Math.max(x(at), half), wide - half), this.high + 13);
    }
  }
  pointed(event) {
    const box = this.canvas.getBoundingClientRect(), { its } = this;
    const at = state.from + (state.to - state.from) * (event.clientX - box.left) / box.width - its.first;
    const number = its.start.findIndex((begin, each) => begin <= at && at < its.end[each]), row = this.series[Math.floor((event.clientY - box.top) / 18)];
    this.note.textContent = row && number >= 0 ? `${row.name}, ${stamp(its.first + its.start[number])}: ${shown(row.raw[number])} ${this.panel.unit}` : "";
  }
  saved() {
    const names = 220, high = 26, [to, scale] = [document.createElement("canvas"), this.canvas.width / this.canvas.clientWidth || 1];
    to.width = this.canvas.width + names * scale; to.height = this.canvas.height + high * scale;
    const pen = to.getContext("2d");
    pen.fillStyle = colour("--card"); pen.fillRect(0, 0, to.width, to.height); pen.fillStyle = colour("--ink");
    pen.font = `${14 * scale}px system-ui, sans-serif`; pen.fillText(`${this.panel.title}, ${this.panel.unit}`, 8 * scale, 18 * scale);
    pen.font = `${11 * scale}px system-ui, sans-serif`; pen.textAlign = "right";
    this.series.forEach((each, row) => pen.fillText(each.name, (names - 8) * scale, (high + row * 18 + 13) * scale, (names - 12) * scale));
    pen.drawImage(this.canvas, names * scale, high * scale);
    savedPicture(this.name, to);
  }
  vector() {
    const panel = { ...this.panel, wide: 760, high: this.high, left: 230 }, { svg, area } = sheetOf(panel, 34);
    const x = (at) => ((at - state.from) / (state.to - state.from)) * panel.wide, most = Math.log1p(this.most()) || 1;
    timed(area, panel, x);
    this.series.forEach((each, row) => {
      area.append(words(-8, row * 18 + 13, each.name, { "text-anchor": "end" }));
      for (const one of inTime(this.its, each.raw)) if (one.value) area.append(drawn("rect", { x: x(one.from).toFixed(1), y: row * 18 + 1, width: Math.max(x(one.to) - x(one.from), 1).toFixed(1), height: 16, fill: "#0b57a4", "fill-opacity": (0.08 + 0.92 * Math.log1p(one.value) / most).toFixed(2) }));
    });
    return svg;
  }
  zoom() { this.plot(); }
  sized() { this.plot(); }
}
for (const each of ["rows", "told", "listed"]) Heat.prototype[each] = Lines.prototype[each];

/* Charts are made when they come into sight, and drawn anew when they are in it. */
function renewed(chart) {
  if (chart.stale && chart.number === state.number) { chart.stale = false; chart.zoom(); }
}
const sight = new IntersectionObserver((several) => {
  for (const each of several) {
    const chart = charts.find((one) => one.place === each.target);
    chart.inSight = each.isIntersecting;
    if (chart.inSight) renewed(chart);
  }
}, { rootMargin: "200px" });
function shownChart(place) {
  const name = place.dataset.panel, kind = data.panels[name].shape === "heat" ? Heat : Lines;
  const found = new kind(place, name);
  charts.push(found);
  sight.observe(place);
  return found;
}
const waiting = new IntersectionObserver((several) => {
  for (const each of several) if (each.isIntersecting) { waiting.unobserve(each.target); if (!each.target.firstChild) shownChart(each.target); }
}, { rootMargin: "300px" });
function aimed(button) {
  const [from, to] = [Number(button.dataset.from), Number(button.dataset.to)], apart = Math.max(to - from, 600);
  state.shaded = [from, to];
  zoom(from - apart, to + apart);
  all(".chart.aimed").forEach((each) => each.classList.remove("aimed"));
  const place = button.dataset.panel && one(`#m${state.number}-chart-${button.dataset.panel}`);
  if (!place) return;
  place.parentElement.classList.add("open");
  if (!place.firstChild) shownChart(place);
  place.classList.add("aimed");
  place.scrollIntoView({ block: "center" });
}

/* Keys. */
function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
  const length = state.to - state.from, buttons = all(".findings .zoom", section());
  const acts = {
    0: () => { state.shaded = null; zoom(...span(day())); },
    "+": () => zoom(state.from + length / 4, state.to - length / 4),
    "-": () => zoom(state.from - length / 2, state.to + length / 2),
    ArrowLeft: () => zoom(state.from - length / 4, state.to - length / 4),
    ArrowRight: () => zoom(state.from + length / 4, state.to + length / 4),
    "[": () => next(-1), "]": () => next(1),
    q: () => choose((state.number + 1) % data.days.length),
    "/": () => { const filter = one(".filter", section()); if (filter) { filter.closest(".part").classList.add("open"); filter.focus(); } },
    t: themed, "?": () => one("#help").showModal(),
  };
  const next = (by) => {
    if (!buttons.length) return;
    state.aim = (state.aim + by + buttons.length) % buttons.length;
    aimed(buttons[state.aim]);
  };
  const act = acts[event.key === "=" ? "+" : event.key];
  if (act) { event.preventDefault(); act(); }
}
function themed() {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  charts.forEach((each) => each.plot());
}

function begun() {
  data = unpacked();
  for (const { charts } of data.days) for (const [name, { lines }] of Object.entries(charts)) if (data.panels[name].shape === "lines") inksOf(lines, data.panels[name].title);
  root.classList.add("js");
  brushing();
  one("#whole").addEventListener("click", () => { state.shaded = null; zoom(...span(day())); });
  one("#print").addEventListener("click", () => print());
  one("#theme").addEventListener("click", themed);
  one("#keys").addEventListener("click", () => one("#help").showModal());
  document.addEventListener("keydown", pressed);
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".zoom"), heading = event.target.closest(".part > h2, .part > h3"), link = event.target.closest(".manager-link");
    if (button) { event.preventDefault(); aimed(button); }
    else if (heading) heading.parentElement.classList.toggle("open");
    else if (link) { event.preventDefault(); choose(all(".manager-link").indexOf(link)); }
  });
  addEventListener("hashchange", followed);
  const sized = () => charts.forEach((each) => { if (each.number === state.number) each.sized(); });
  addEventListener("resize", () => { overview(); brushed(); sized(); });
  addEventListener("beforeprint", () => {
    root.classList.add("paper");
    all(".chart", section()).forEach((place) => { if (!place.firstChild) shownChart(place); });
    charts.forEach(renewed);
    sized();
  });
  addEventListener("afterprint", () => { root.classList.remove("paper"); sized(); });
  followed();
  root.dataset.ready = "true";
}
begun();
})();
