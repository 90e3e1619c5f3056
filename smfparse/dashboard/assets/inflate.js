/* gzip, unpacked while the page loads: what the browser has for it comes too late for those who print at once. */
const inflated = (() => {
"use strict";
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const HEADER = 10, LONGEST = 15, END = 256;

/* Base values and extra bits of lengths (from symbol 257 on) and of distances: RFC 1951, 3.2.5. */
const bases = (first, extra) => {
  let base = first;
  return extra.map((bits) => { const found = [base, bits]; base += 1 << bits; return found; });
};
const LENGTHS = bases(3, [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5]).concat([[258, 0]]);
const DISTANCES = bases(1, [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13]);

/* A Huffman code: how many codes each length has, and the symbols in the order of their codes. */
function coded(lengths) {
  const counts = new Uint16Array(LONGEST + 1), at = new Uint16Array(LONGEST + 2), symbols = new Uint16Array(lengths.length);
  for (const each of lengths) if (each) counts[each] += 1;
  for (let length = 1; length <= LONGEST; length += 1) at[length + 1] = at[length] + counts[length];
  lengths.forEach((each, symbol) => { if (each) { symbols[at[each]] = symbol; at[each] += 1; } });
  return { counts, symbols };
}
const spans = (...several) => several.flatMap(([count, length]) => Array(count).fill(length));
const FIXED = [coded(spans([144, 8], [112, 9], [24, 7], [8, 8])), coded(spans([30, 5]))];

return (packed) => {
  const found = new Uint8Array(new DataView(packed.buffer).getUint32(packed.length - 4, true));
  let at = HEADER, bits = 0, count = 0, to = 0;
  const taken = (need) => {
    while (count < need) { bits |= packed[at] << count; at += 1; count += 8; }
    const value = bits & ((1 << need) - 1);
    bits >>>= need;
    count -= need;
    return value;
  };
  const symbol = ({ counts, symbols }) => {
    let code = 0, first = 0, index = 0;
    for (let length = 1; length <= LONGEST; length += 1) {
      code |= taken(1);
      const own = counts[length];
      if (code - own < first) return symbols[index + code - first];
      index += own;
      first = (first + own) << 1;
      code <<= 1;
    }
    throw new Error("the data of the page is damaged");
  };
  const stored = () => {
    bits = 0;
    count = 0;
    const size = packed[at] | packed[at + 1] << 8;
    found.set(packed.subarray(at + 4, at + 4 + size), to);
    at += 4 + size;
    to += size;
  };
  const described = () => {
    const literals = taken(5) + 257, distances = taken(5) + 1, known = taken(4) + 4, own = Array(19).fill(0), lengths = [];
    for (let each = 0; each < known; each += 1) own[ORDER[each]] = taken(3);
    const code = coded(own);
    while (lengths.length < literals + distances) {
      const next = symbol(code);
      if (next < 16) lengths.push(next);
      else if (next === 16) lengths.push(...Array(3 + taken(2)).fill(lengths[lengths.length - 1]));
      else lengths.push(...Array(next === 17 ? 3 + taken(3) : 11 + taken(7)).fill(0));
    }
    return [coded(lengths.slice(0, literals)), coded(lengths.slice(literals))];
  };
  const copied = ([literals, distances]) => {
    for (let next = symbol(literals); next !== END; next = symbol(literals)) {
      if (next < END) { found[to] = next; to += 1; continue; }
      const [length, more] = LENGTHS[next - END - 1], size = length + taken(more);
      const [base, extra] = DISTANCES[symbol(distances)], back = base + taken(extra);
      for (let each = 0; each < size; each += 1) { found[to] = found[to - back]; to += 1; }
    }
  };
  for (let last = 0; !last;) {
    last = taken(1);
    const kind = taken(2);
    if (kind === 0) stored();
    else copied(kind === 1 ? FIXED : described());
  }
  return found;
};
})();
