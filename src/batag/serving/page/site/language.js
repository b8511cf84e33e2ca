/** The words of the page in the reader's language: one catalogue, fetched once, and numbers as that language writes them. */

/** @typedef {'en' | 'zh-Hant' | 'ja'} PageLanguage */
/** @typedef {Record<string, string | number>} Values */
/** @typedef {(key: string, values?: Values) => string} Say */

/** @type {[PageLanguage, string][]} */
export const PAGE_LANGUAGES = [
  ['en', 'English'],
  ['zh-Hant', '繁體中文'],
  ['ja', '日本語'],
];
const STORED = 'batag.language';

/** @type {Map<PageLanguage, Promise<Record<string, string>>>} */
const catalogues = new Map();
/** @type {Record<string, string>} */
let words = {};
/** @type {PageLanguage} */
let current = 'en';

/** The language of the page. */
export const language = () => current;

/** The language that was chosen before, or the first of the browser's that there is a catalogue for.
 * @returns {PageLanguage} */
export function preferred() {
  const asked = [stored(STORED) ?? '', ...navigator.languages];
  for (const each of asked.map((tag) => tag.toLowerCase())) {
    if (each.startsWith('en')) return 'en';
    if (each.startsWith('zh')) return 'zh-Hant';
    if (each.startsWith('ja')) return 'ja';
  }
  return 'en';
}

/** The words of a language, asked for once.
 * @param {PageLanguage} name */
function read(name) {
  let words = catalogues.get(name);
  if (!words) {
    words = fetch(new URL(`../catalogues/${name}.json`, import.meta.url)).then((answer) => answer.json());
    words.catch(() => catalogues.delete(name));
    catalogues.set(name, words);
  }
  return words;
}

/** Load a catalogue; from then on `say` speaks it.
 * @param {PageLanguage} name */
export async function speak(name) {
  words = await read(name);
  current = name;
  document.documentElement.lang = name;
  document.title = words['page.title'];
}

/** @param {PageLanguage} name */
export function remember(name) {
  store(STORED, name);
}

/** The text of a key, with `{name}` replaced; `{count}` chooses between `key.one` and `key.other`.
 * @type {Say} */
export function say(key, values = {}) {
  let text = words[key];
  if (text === undefined && values.count !== undefined) {
    const form = new Intl.PluralRules(current).select(Number(values.count)) === 'one' ? 'one' : 'other';
    text = words[`${key}.${form}`];
  }
  if (text === undefined) return key;
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === 'number' ? new Intl.NumberFormat(current).format(value) : String(value ?? '');
  });
}

/** Whether the catalogue has this key.
 * @param {string} key */
export const known = (key) => key in words;

/** A probability in percent; 100 % and 0 % are kept for what is exactly that.
 * @param {number} share */
export function percent(share) {
  const format = new Intl.NumberFormat(current, { style: 'percent', maximumFractionDigits: 0 });
  if (share > 0.995 && share < 1) return `>${format.format(0.99)}`;
  if (share > 0 && share < 0.005) return `<${format.format(0.01)}`;
  return format.format(share);
}

/** @param {string} key */
export function stored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Keep a choice; where storage is forbidden it lasts as long as the page.
 * @param {string} key @param {string | null} value */
export function store(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Nothing depends on it.
  }
}

// This module runs before the others are there: the words arrive while they do.
read(preferred());
