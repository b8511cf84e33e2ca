/** Tags as JSON (a page of batag's own format) and as CSV, and how text reaches the clipboard. */

/** @typedef {import('../site/service.js').Tag} Tag */
/** @typedef {import('../site/service.js').PageText} PageText */

const COLUMNS = /** @type {const} */ (['field', 'start', 'end', 'label', 'text', 'score', 'normal', 'canonical', 'category', 'source']);

/** A tagged page as `batag tag` writes it.
 * @param {PageText} page @param {string} language @param {Tag[]} tags */
export function asJson(page, language, tags) {
  const written = tags.map((tag) => Object.fromEntries(COLUMNS.filter((name) => tag[name] !== undefined).map((name) => [name, tag[name]])));
  return `${JSON.stringify({ language, ...page, error: null, tags: written, reviewed: false }, null, 2)}\n`;
}

/** One row a tag (RFC 4180). A cell that a spreadsheet would run as a formula gets an apostrophe in front.
 * @param {Tag[]} tags */
export function asCsv(tags) {
  const rows = [[...COLUMNS], ...tags.map((tag) => COLUMNS.map((name) => cell(tag[name])))];
  return rows.map((row) => `${row.map(quoted).join(',')}\r\n`).join('');
}

/** @param {string | number | undefined} value */
const cell = (value) => (typeof value === 'string' && /^[\s]*[=+\-@＝＋－＠\t\r]/.test(value) ? `'${value}` : String(value ?? ''));

/** @param {string} text */
const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Put text on the clipboard. A page from another machine without HTTPS may not use the clipboard's interface.
 * @param {string} text @returns {Promise<boolean>} */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'hidden';
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    before?.focus();
    return done;
  }
}
