/** The page's text with its tags highlighted. Every tag of the richest step has its place in the text, shown or not, so that no
 * line moves when the dial is turned. */

import { html, nothing } from '../vendor/lit-html.js';
import { mark } from '../site/icons.js';
import { say } from '../site/language.js';
import { pieces } from './code_points.js';
import { keyOf, nameOf, place } from './labels.js';

/** @typedef {import('../site/service.js').Tag} Tag */
/** @typedef {import('../site/service.js').PageText} PageText */
/**
 * @typedef {object} TextOptions
 * @property {string} language
 * @property {string[]} labels
 * @property {(tag: Tag) => boolean} shown
 * @property {string | null} chosen key of the chosen tag
 * @property {(tag: Tag) => void} choose
 * @property {(tag: Tag | null, element: HTMLElement | null) => void} point shows what is known of a tag beside it
 */

/** @param {PageText} page @param {Tag[]} tags @param {TextOptions} options */
export function taggedText(page, tags, options) {
  const first = tags.find(options.shown);
  const stop = options.chosen && tags.some((tag) => keyOf(tag) === options.chosen && options.shown(tag)) ? options.chosen : first && keyOf(first);
  /** @param {'title' | 'description'} field */
  const field = (field) => pieces(page[field], tags.filter((tag) => tag.field === field)).map((piece) => (piece.tag ? tagSpan(piece.tag, piece.text, stop, options) : piece.text));
  // No white space may stand around the text: it would be shown.
  return html`<div class="tagged" lang=${options.language} role="group" aria-label=${say('result.text')} aria-describedby="keys-help" @keydown=${move}>
    ${page.title ? html`<p class="tagged-title">${field('title')}</p>` : nothing}
    ${page.description ? html`<p class="tagged-description">${field('description')}</p>` : nothing}
    <p class="hidden" id="keys-help" lang=${document.documentElement.lang}>${say('result.keys')}</p>
  </div>`;
}

/** @param {Tag} tag @param {string} text @param {string | undefined} stop key of the one tag that Tab reaches @param {TextOptions} options */
function tagSpan(tag, text, stop, { labels, shown, chosen, choose, point }) {
  const key = keyOf(tag);
  if (!shown(tag)) return html`<span class="tag off">${text}</span>`;
  const number = place(tag.label, labels);
  /** @param {Event} event */
  const enter = (event) => point(tag, /** @type {HTMLElement} */ (event.currentTarget));
  const leave = () => point(null, null);
  /** @param {KeyboardEvent} event */
  const press = (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    choose(tag);
  };
  return html`<span
    class="tag label-${number}"
    role="button"
    tabindex=${key === stop ? 0 : -1}
    aria-pressed=${key === chosen}
    data-label=${tag.label}
    data-start=${tag.start}
    @mouseenter=${enter}
    @mouseleave=${leave}
    @focus=${enter}
    @blur=${leave}
    @click=${() => choose(tag)}
    @keydown=${press}
    >${mark(number)}${text}<span class="hidden" lang=${document.documentElement.lang}> (${nameOf(tag.label)})</span></span
  >`;
}

/** Arrow keys go from tag to tag; Tab leaves the text.
 * @param {KeyboardEvent} event */
function move(event) {
  const text = /** @type {HTMLElement} */ (event.currentTarget);
  const tags = /** @type {HTMLElement[]} */ ([...text.querySelectorAll('.tag[role]')]);
  const at = tags.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  if (at < 0) return;
  const steps = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: tags.length - 1 };
  const to = steps[/** @type {keyof typeof steps} */ (event.key)];
  if (to === undefined) return;
  event.preventDefault();
  tags[Math.min(Math.max(to, 0), tags.length - 1)].focus();
}
