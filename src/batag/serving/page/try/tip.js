/** What is known of the tag under the pointer or with the focus, in a small box beside it. */

import { html, nothing, render } from '../vendor/lit-html.js';
import { percent, say } from '../site/language.js';
import { labelChip, sourceOf } from './labels.js';

/** @typedef {import('../site/service.js').Tag} Tag */

const GAP = 8;
const ID = 'tip';

/** @type {HTMLElement | null} */
let box = null;
/** @type {HTMLElement | null} */
let owner = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let leaving;

/** Show a tag's score, canonical form and source beside its element, or hide the box.
 * @param {Tag | null} tag @param {HTMLElement | null} element @param {string[]} labels */
export function point(tag, element, labels) {
  clearTimeout(leaving);
  if (!tag || !element) {
    // Time enough to move the pointer onto the box, to read or select what stands there.
    leaving = setTimeout(hide, 150);
    return;
  }
  hide();
  box ??= made();
  render(facts(tag, labels), box);
  box.hidden = false;
  owner = element;
  owner.setAttribute('aria-describedby', ID);
  const [line] = element.getClientRects();
  const size = box.getBoundingClientRect();
  const left = Math.min(Math.max(line.left, GAP), document.documentElement.clientWidth - size.width - GAP);
  const above = line.top - size.height - GAP;
  box.style.left = `${Math.round(left)}px`;
  box.style.top = `${Math.round(above > GAP ? above : line.bottom + GAP)}px`;
}

export function hide() {
  if (box) box.hidden = true;
  owner?.removeAttribute('aria-describedby');
  owner = null;
}

/** Hide the box if the card that says the same is in view; on a phone it stands further down. */
export function hideBesideWhy() {
  const card = document.querySelector('.why');
  if (card && card.getBoundingClientRect().top < innerHeight * 0.8) hide();
}

/** What is known of a tag, as rows of a list.
 * @param {Tag} tag @param {string[]} labels */
export const facts = (tag, labels) => html`<dl class="facts">
  <div><dt>${say('tag.label')}</dt><dd>${labelChip(tag.label, labels)}</dd></div>
  <div><dt>${say('tag.score')}</dt><dd>${percent(tag.score)}</dd></div>
  <div><dt>${say('tag.canonical')}</dt><dd><bdi>${tag.canonical ?? say('tag.no-canonical')}</bdi></dd></div>
  ${tag.category === undefined ? nothing : html`<div><dt>${say('tag.category')}</dt><dd><bdi>${tag.category}</bdi></dd></div>`}
  <div><dt>${say('tag.source')}</dt><dd>${sourceOf(tag)}</dd></div>
</dl>`;

function made() {
  const made = document.createElement('div');
  made.id = ID;
  made.className = 'tip';
  made.setAttribute('role', 'tooltip');
  made.addEventListener('mouseenter', () => clearTimeout(leaving));
  made.addEventListener('mouseleave', () => point(null, null, []));
  // Inside of the landmark that its tag is in.
  document.querySelector('main')?.append(made);
  addEventListener('keydown', (event) => event.key === 'Escape' && hide());
  addEventListener('scroll', hide, { passive: true, capture: true });
  return made;
}
