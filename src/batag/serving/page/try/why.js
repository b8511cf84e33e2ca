/** Why a tag is one: what is known of it, and the words that moved its score most. */

import { html, nothing, svg } from '../vendor/lit-html.js';
import { percent, say } from '../site/language.js';
import { notice } from '../site/notice.js';
import { facts } from './tip.js';

/** @typedef {import('../site/service.js').Tag} Tag */
/** @typedef {import('../site/service.js').Explanation} Explanation */
/** @typedef {import('../site/service.js').MovingToken} MovingToken */
/** @typedef {import('../site/service.js').Problem} Problem */
/** @typedef {{explanation: Explanation} | {problem: Problem} | null} Why null while it is asked for */

const SHOWN = 6;
const LEAST = 0.005;

/** @param {Tag | null} tag @param {Why} why @param {{labels: string[], language: string, shown: boolean, retry: () => void}} options */
export function whyTag(tag, why, { labels, language, shown, retry }) {
  return html`<section class="card part why" aria-labelledby="why-title" aria-busy=${Boolean(tag && !why)}>
    <h2 id="why-title">${say('why.title')}</h2>
    ${tag
      ? html`<p class="why-tag" lang=${language}><bdi>${tag.text}</bdi></p>
          ${facts(tag, labels)} ${shown ? nothing : html`<p class="small muted">${say('why.hidden')}</p>`}
          ${why === null ? waiting() : 'problem' in why ? notice(why.problem, retry) : words(why.explanation, language)}`
      : html`<p class="empty-text">${say('why.none')}</p>`}
  </section>`;
}

const waiting = () => html`<h3>${say('why.words')}</h3>
  <div class="bars">${[70, 45, 30].map((width) => html`<div class="bar-row waiting"><span></span><svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none">${svg`<rect width=${width} height="8" />`}</svg><span></span></div>`)}</div>`;

/** @param {Explanation} explanation @param {string} language */
function words(explanation, language) {
  const moved = explanation.tokens.filter((token) => Math.abs(token.change) >= LEAST).sort((one, other) => Math.abs(other.change) - Math.abs(one.change));
  const shown = moved.slice(0, SHOWN);
  const note = say('why.note', { count: explanation.tokens.length });
  return html`<h3>${say('why.words')}</h3>
    ${shown.length
      ? html`<table class="bars">
          <thead class="hidden">
            <tr><th scope="col">${say('why.word')}</th><th scope="col">${say('why.effect')}</th><th scope="col">${say('why.without')}</th></tr>
          </thead>
          <tbody>
            ${shown.map((token) => row(token, explanation.score, language))}
          </tbody>
        </table>`
      : html`<p class="still">${say('why.still')}</p>`}
    <p class="small muted">${note}</p>`;
}

/** @param {MovingToken} token @param {number} score of the tag @param {string} language */
function row(token, score, language) {
  const width = Math.min(Math.abs(token.change), 1) * 100;
  const effect = say(token.change > 0 ? 'why.for' : 'why.against');
  return html`<tr class="bar-row ${token.change > 0 ? 'for' : 'against'}">
    <th scope="row" lang=${language} class=${token.inside ? 'inside' : ''}><bdi>${token.text}</bdi></th>
    <td>
      <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=${effect}>${svg`<rect class="rail" width="100" height="8" /><rect width=${width} height="8" />`}</svg>
    </td>
    <td class="score" title=${say('why.from-to', { from: percent(score), to: percent(token.score) })}>${points(token.change)}</td>
  </tr>`;
}

/** What the word adds or takes, in points of percent.
 * @param {number} change */
const points = (change) => `${change > 0 ? '+' : '−'}${Math.round(Math.abs(change) * 100)}`;
