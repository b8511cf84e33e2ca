/** Offsets of the service count code points; strings of the browser count UTF-16 units. All conversions stand here. */

/** @typedef {import('../site/service.js').Tag} Tag */
/** @typedef {{text: string, tag: Tag | null}} Piece */

/** The number of code points.
 * @param {string} text */
export function codePoints(text) {
  let number = 0;
  for (const _ of text) number += 1;
  return number;
}

/** The text with U+FFFD for every half of a pair that stands alone, which no JSON in UTF-8 can hold.
 * @param {string} text */
export const wellFormed = (text) => text.replace(/\p{Surrogate}/gu, '\ufffd');

/** Cut a text at its tags: pieces in order, which together are the text.
 * @param {string} text @param {Tag[]} tags the tags of this field
 * @returns {Piece[]} */
export function pieces(text, tags) {
  const units = unitsOf(text);
  /** @type {Piece[]} */
  const cut = [];
  let at = 0;
  for (const tag of [...tags].sort((one, other) => one.start - other.start)) {
    const start = units(tag.start);
    const end = units(tag.end);
    if (start < at || end <= start) continue;
    if (start > at) cut.push({ text: text.slice(at, start), tag: null });
    cut.push({ text: text.slice(start, end), tag });
    at = end;
  }
  if (at < text.length) cut.push({ text: text.slice(at), tag: null });
  return cut;
}

/** A function from offsets in code points to offsets in UTF-16 units, for offsets that never fall.
 * @param {string} text @returns {(offset: number) => number} */
function unitsOf(text) {
  let point = 0;
  let unit = 0;
  return (offset) => {
    while (point < offset && unit < text.length) {
      unit += /** @type {number} */ (text.codePointAt(unit)) > 0xffff ? 2 : 1;
      point += 1;
    }
    return unit;
  };
}
