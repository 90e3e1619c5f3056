/* The tables of a page: a heading sorts, a filter hides rows, CSV saves the shown rows. Headings of class n are those of
   numbers. Columns with headings of class drawn are neither sorted nor saved. Other scripts of a page call these functions. */
const tables = (() => {
"use strict";
const MANY = 8; /* minimum number of rows of a table with a filter */
const UNITS = { KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4, PB: 1024 ** 5 };

function made(name, attributes = {}, ...inside) {
  const found = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") for (const [event, act] of Object.entries(value)) found.addEventListener(event, act);
    else if (key === "text") found.textContent = value;
    else if (value !== false && value !== null) found.setAttribute(key, value);
  }
  found.append(...inside);
  return found;
}
function saved(name, parts, type) {
  const link = made("a", { download: name, href: URL.createObjectURL(new Blob(parts, { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
function cell(value) {
  let text = value === null || value === undefined ? "" : String(value);
  if (typeof value === "string" && /^[\s]*[=+\-@\t]/.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
const csv = (name, rows) => saved(`${name}.csv`, [rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n"], "text/csv");

/* Return the number of a cell: its attribute data-v, otherwise its text, as 1,234 or 12 MB. */
function numberOf(place) {
  if (place.dataset.v !== undefined) return place.dataset.v === "" ? -Infinity : Number(place.dataset.v);
  const [, digits, unit] = place.textContent.match(/^\s*([-+]?[\d.,]+(?:e[-+]?\d+)?)\s*(\w*)/i) || [];
  return digits === undefined ? -Infinity : Number(digits.replaceAll(",", "")) * (UNITS[unit] || 1);
}
function sorted(table, head) {
  const at = head.cellIndex, isNumber = head.classList.contains("n"), body = table.tBodies[0];
  const down = head.hasAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : isNumber;
  for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const key = isNumber ? numberOf : (place) => place.textContent;
  const rows = [...body.rows].map((row) => [key(row.cells[at]), row]);
  rows.sort(([x], [y]) => (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1));
  body.append(...rows.map(([, row]) => row));
}
function filtered(table, words) {
  const drawn = [...table.tHead.rows[0].cells].map((head) => head.classList.contains("n") || head.classList.contains("drawn"));
  for (const row of table.tBodies[0].rows) row.hidden = ![...row.cells].some((each, at) => (at === 0 || !drawn[at]) && each.textContent.toLowerCase().includes(words));
}
function tooled(table, name) {
  const filter = made("input", { class: "filter", type: "search", on: { input: () => filtered(table, filter.value.toLowerCase()) } });
  const kept = [...table.tHead.rows[0].cells].map((head) => !head.classList.contains("drawn"));
  const taken = (row) => [...row.cells].filter((_, at) => kept[at]).map((each) => each.dataset.v ?? each.textContent);
  const save = () => csv(name, [...table.rows].filter((row) => !row.hidden).map(taken));
  const place = table.closest(".wide") || table;
  place.before(made("p", { class: "sorting" }, made("label", { text: "Filter " }, filter), " ", made("button", { class: "csv", type: "button", text: "CSV", on: { click: save } })));
}

document.querySelectorAll("table.data").forEach((table, number) => {
  const rows = table.tBodies[0].rows.length, sheet = table.closest(".sheet");
  if (rows < 2) return;
  for (const head of table.tHead.rows[0].cells) {
    if (head.classList.contains("drawn")) continue;
    head.replaceChildren(made("button", { type: "button", text: head.textContent, on: { click: () => sorted(table, head) } }));
  }
  if (sheet || rows >= MANY) tooled(table, sheet ? sheet.dataset.name : `table-${number + 1}`);
});
return { made, saved, csv };
})();
