/** Labels as people see them: a colour and a mark each, and a name in the language of the page. */

import { html } from '../vendor/lit-html.js';
import { mark } from '../site/icons.js';
import { known, say } from '../site/language.js';

/** @typedef {import('../site/service.js').Tag} Tag */

const USUAL = ['brand', 'goods', 'feature'];
const COLOURS = 8;

/** The number of a label's colour and mark. The usual labels always have the same; others follow in their order.
 * @param {string} label @param {string[]} labels all labels of the bundle */
export function place(label, labels) {
  const usual = USUAL.indexOf(label);
  if (usual >= 0) return usual;
  const others = labels.filter((each) => !USUAL.includes(each));
  return (USUAL.length + Math.max(others.indexOf(label), 0)) % COLOURS;
}

/** All labels in the order of their colours.
 * @param {string[]} labels */
export const inOrder = (labels) => [...labels].sort((one, other) => place(one, labels) - place(other, labels));

/** The name of a label; one that we do not know is shown as it is.
 * @param {string} label */
export const nameOf = (label) => (known(`label.${label}`) ? say(`label.${label}`) : label);

/** @param {Tag} tag */
export const sourceOf = (tag) => (known(`source.${tag.source}`) ? say(`source.${tag.source}`) : tag.source);

/** A label's mark and name in its colour.
 * @param {string} label @param {string[]} labels */
export const labelChip = (label, labels) =>
  html`<span class="label-chip label-${place(label, labels)}">${mark(place(label, labels))}${nameOf(label)}</span>`;

/** What tells one tag of a page from all others.
 * @param {Tag} tag */
export const keyOf = (tag) => `${tag.field}:${tag.start}:${tag.end}:${tag.label}`;
