/** The slider from clean to rich over 21 steps, and the labels that are shown. Both work on the answer that is there. */

import { html, nothing } from '../vendor/lit-html.js';
import { mark } from '../site/icons.js';
import { say } from '../site/language.js';
import { inOrder, nameOf, place } from './labels.js';

export const STEPS = 21;
export const BALANCED = 10;

/** The richness of a step, 0 to 1.
 * @param {number} step */
export const richness = (step) => Math.round((step / (STEPS - 1)) * 100) / 100;

/** @param {number} step */
const stepName = (step) => (step === 0 ? say('dial.clean') : step === BALANCED ? say('dial.balanced') : step === STEPS - 1 ? say('dial.rich') : richness(step).toFixed(2));

/** @param {number} step @param {number} count tags that are shown @param {boolean} able @param {(step: number) => void} moved */
export function dial(step, count, able, moved) {
  const name = stepName(step);
  return html`<div class="dial">
    <div class="dial-head">
      <label for="dial">${say('dial.title')}</label>
      <output for="dial" class="strong">${name}</output>
    </div>
    <input
      id="dial"
      type="range"
      min="0"
      max=${STEPS - 1}
      step="1"
      .value=${String(step)}
      ?disabled=${!able}
      aria-valuetext=${`${name}, ${say('result.count', { count })}`}
      @input=${(/** @type {Event} */ event) => moved(Number(/** @type {HTMLInputElement} */ (event.target).value))}
    />
    <div class="dial-ends small muted" aria-hidden="true"><span>${say('dial.clean.end')}</span><span>${say('dial.rich.end')}</span></div>
    ${able ? nothing : html`<p class="small muted">${say('dial.none')}</p>`}
  </div>`;
}

/** @param {string[]} labels @param {Map<string, number>} counts @param {Set<string>} hidden @param {(label: string) => void} turned */
export const legend = (labels, counts, hidden, turned) => html`<div class="legend" role="group" aria-label=${say('result.labels')}>
  ${inOrder(labels).map(
    (label) => html`<button type="button" class="chip legend-label label-${place(label, labels)}" aria-pressed=${!hidden.has(label)} @click=${() => turned(label)}>
      ${mark(place(label, labels))}<bdi>${nameOf(label)}</bdi> <span class="number">${counts.get(label) ?? 0}</span>
    </button>`,
  )}
</div>`;
