/** The best tags of the page, one per canonical form, as `--top` of the command line chooses them. */

import { html, svg } from '../vendor/lit-html.js';
import { mark } from '../site/icons.js';
import { percent, say } from '../site/language.js';
import { codePoints } from './code_points.js';
import { keyOf, nameOf, place } from './labels.js';

/** @typedef {import('../site/service.js').Tag} Tag */

/** One tag of each canonical form: that of the title, then the longest; nothing inside of a longer one of its label; scores to
 * one digit, then the place. Words of advertising, which have no canonical form, are left out.
 * @param {Tag[]} tags @param {number} number */
export function top(tags, number) {
  /** @type {Map<string, number>} */
  const fields = new Map([['title', 0]]);
  /** @type {Map<string, {tag: Tag, score: number}>} */
  const kept = new Map();
  for (const tag of tags) {
    if (!fields.has(tag.field)) fields.set(tag.field, fields.size);
    if (tag.canonical === undefined) continue;
    const form = `${tag.label}\n${tag.canonical || tag.text}`;
    const best = kept.get(form);
    const score = Math.max(best?.score ?? 0, tag.score);
    kept.set(form, { score, tag: best && !before(tag, best.tag, fields) ? best.tag : tag });
  }
  const all = [...kept.values()];
  /** @param {Tag} tag */
  const inside = (tag) => all.some(({ tag: other }) => other.label === tag.label && other.text !== tag.text && other.text.includes(tag.text));
  return all
    .filter(({ tag }) => !inside(tag))
    .sort((one, other) => rounded(other.score) - rounded(one.score) || places(one.tag, other.tag, fields))
    .slice(0, number);
}

/** @param {Tag} tag @param {Tag} best @param {Map<string, number>} fields */
function before(tag, best, fields) {
  const field = /** @type {number} */ (fields.get(tag.field)) - /** @type {number} */ (fields.get(best.field));
  return (field || codePoints(best.text) - codePoints(tag.text) || tag.start - best.start) < 0;
}

/** @param {Tag} one @param {Tag} other @param {Map<string, number>} fields */
const places = (one, other, fields) =>
  /** @type {number} */ (fields.get(one.field)) - /** @type {number} */ (fields.get(other.field)) || one.start - other.start;

/** Tenths as the service rounds them: by the exact value, a quarter down.
 * @param {number} score */
const rounded = (score) => (score === 0.25 ? 0.2 : Number(score.toFixed(1)));

/** @param {Tag[]} tags @param {string[]} labels @param {string} language of the page's text
 * @param {string | null} chosen @param {(tag: Tag) => void} choose */
export function topTags(tags, labels, language, chosen, choose) {
  const best = top(tags, 8);
  return html`<section class="card part" aria-labelledby="top-title">
    <h2 id="top-title">${say('top.title')}</h2>
    ${best.length
      ? html`<ol class="top-list">
          ${best.map(
            ({ tag, score }) => html`<li>
              <button type="button" class="top-tag label-${place(tag.label, labels)}" aria-pressed=${chosen === keyOf(tag)} title=${nameOf(tag.label)} @click=${() => choose(tag)}>
                ${mark(place(tag.label, labels))}
                <span class="top-text"><bdi lang=${language}>${tag.text}</bdi>${tag.canonical && tag.canonical.toLowerCase() !== tag.text.toLowerCase()
                    ? html` <bdi class="muted small">${tag.canonical}</bdi>`
                    : ''}</span>
                <span class="hidden">${nameOf(tag.label)}</span>
                <svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">${svg`<rect class="rail" width="100" height="6" /><rect width=${Math.round(score * 100)} height="6" />`}</svg>
                <span class="score small muted">${percent(score)}</span>
              </button>
            </li>`,
          )}
        </ol>`
      : html`<p class="empty-text">${say('top.none')}</p>`}
  </section>`;
}
