/** What went wrong, in plain words and in the reader's language. */

import { html, nothing } from '../vendor/lit-html.js';
import { warning } from './icons.js';
import { known, language, say } from './language.js';

/** @typedef {import('./service.js').Problem} Problem */

/** A box that says what went wrong and what to do; the server's own words stand below where they say more.
 * @param {Problem} problem @param {(() => void) | null} retry */
export function notice(problem, retry) {
  const key = `problem.${problem.type}`;
  const said = known(key);
  // Where the server says how long to wait, our own words say it already.
  const own = problem.wait === null ? [problem.detail, problem.todo].filter(Boolean).map(sentence).join(' ') : '';
  return html`<div class="notice" role="alert">
    ${warning()}
    <div class="notice-text">
      <p class="strong">${said ? say(key) : say('problem.other', { status: problem.status })}</p>
      ${said && known(`${key}.todo`) ? html`<p>${waiting(problem, `${key}.todo`)}</p>` : nothing}
      ${own ? html`<p class="small" lang="en">${language() !== 'en' && said ? html`<span lang=${language()}>${say('problem.details')}</span>` : nothing}${own}</p>` : nothing}
      ${retry ? html`<button type="button" class="button" @click=${retry}>${say('problem.retry')}</button>` : nothing}
    </div>
  </div>`;
}

/** @param {Problem} problem @param {string} key */
const waiting = (problem, key) => say(key, { seconds: problem.wait ?? 1 });

/** @param {string} text */
const sentence = (text) => text[0].toUpperCase() + text.slice(1) + (/[.!?。]$/.test(text) ? '' : '.');
