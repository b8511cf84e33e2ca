/** The right half of Try: text with tags, slider, labels, copies; what to do where there is nothing yet. */

import { html, nothing } from '../vendor/lit-html.js';
import { copy, done, emptyPage } from '../site/icons.js';
import { say } from '../site/language.js';
import { notice } from '../site/notice.js';
import { dial, legend } from './dial.js';
import { taggedText } from './tagged_text.js';

/** @typedef {import('../site/service.js').Tag} Tag */
/** @typedef {import('../site/service.js').PageText} PageText */
/** @typedef {import('../site/service.js').Problem} Problem */
/** @typedef {'JSON' | 'CSV'} Copied */
/**
 * @typedef {object} ResultOptions
 * @property {{page: PageText, language: string, tags: Tag[]} | null} answer
 * @property {Tag[]} shownTags
 * @property {Problem | null} problem
 * @property {boolean} busy
 * @property {string[]} labels
 * @property {boolean} hasDial
 * @property {number} step
 * @property {Set<string>} hidden
 * @property {(tag: Tag) => boolean} shown
 * @property {Map<string, number>} counts
 * @property {string | null} chosen
 * @property {string | null} copied
 * @property {(step: number) => void} moved
 * @property {(label: string) => void} turned
 * @property {(tag: Tag) => void} choose
 * @property {(tag: Tag | null, element: HTMLElement | null) => void} point
 * @property {(kind: Copied) => void} copying
 * @property {() => void} retry
 */

/** @param {ResultOptions} options */
export function result(options) {
  const { answer, shownTags, problem, busy, labels, step, hidden, counts, hasDial, copied, moved, turned, copying } = options;
  const count = shownTags.length;
  /** @param {Copied} kind */
  const copyButton = (kind) => html`<button type="button" class="button small" title=${say('copy.as', { format: kind })} aria-label=${say('copy.as', { format: kind })} ?disabled=${!answer} @click=${() => copying(kind)}>
    ${copied === kind ? done() : copy()}<span>${kind}</span>
  </button>`;
  const said = copied === 'failed' ? say('copy.failed') : copied === 'JSON' || copied === 'CSV' ? say('copy.done') : answer && !problem ? say('result.count', { count }) : '';
  return html`<section class="card result" aria-labelledby="result-title" aria-busy=${busy}>
    <div class="result-head">
      <h2 id="result-title">${say('result.title')}</h2>
      <p class="muted small" role="status">${said}</p>
      <div class="copies">${copyButton('JSON')}${copyButton('CSV')}</div>
    </div>
    <div class="controls">${dial(step, count, hasDial, moved)}${legend(labels, counts, hidden, turned)}</div>
    <div class="result-body">${problem ? notice(problem, options.retry) : answer ? body(answer, options) : empty()}</div>
  </section>`;
}

/** @param {NonNullable<ResultOptions['answer']>} answer @param {ResultOptions} options */
function body(answer, { shownTags, labels, shown, chosen, choose, point, step, hidden }) {
  const richest = step === 20 && !hidden.size;
  return html`${taggedText(answer.page, answer.tags, { language: answer.language, labels, shown, chosen, choose, point })}
  ${shownTags.length
    ? nothing
    : html`<p class="empty-text">${say(!answer.tags.length || richest ? 'result.none' : hidden.size ? 'result.none-shown' : 'result.none-yet')}</p>`}`;
}

const empty = () => html`<div class="empty">
  ${emptyPage()}
  <p class="strong">${say('result.empty')}</p>
  <p class="muted">${say('result.empty.todo')}</p>
</div>`;
