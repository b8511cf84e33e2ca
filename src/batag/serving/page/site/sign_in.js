/** The box that turns a key into a session; the key is sent once and kept nowhere. */

import { html, nothing } from '../vendor/lit-html.js';
import { key } from './icons.js';
import { say } from './language.js';
import { notice } from './notice.js';
import { Refused, signIn } from './service.js';

/** @typedef {import('./service.js').Problem} Problem */

/** @type {Problem | null} */
let problem = null;
let busy = false;

/** @param {() => void} update draws the page again @param {() => void} entered called once the session is there */
export function signInBox(update, entered) {
  /** @param {SubmitEvent} event */
  const submit = async (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const field = /** @type {HTMLInputElement} */ (form.elements.namedItem('key'));
    if (busy || !field.value.trim()) return field.focus();
    busy = true;
    problem = null;
    update();
    try {
      await signIn(field.value.trim());
      field.value = '';
      entered();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const type = error.problem.type === 'no-key' ? 'wrong-key' : error.problem.type;
      problem = { ...error.problem, type, detail: '', todo: '' };
    } finally {
      busy = false;
      update();
      if (problem) field.select();
    }
  };
  return html`<section class="card sign-in" aria-labelledby="sign-in-title">
    <div class="sign-in-picture">${key()}</div>
    <h1 id="sign-in-title">${say('sign-in.title')}</h1>
    <p class="muted">${say('sign-in.text')}</p>
    <form @submit=${submit}>
      <label for="key">${say('sign-in.key')}</label>
      <input id="key" name="key" type="password" autocomplete="current-password" spellcheck="false" required aria-invalid=${problem ? 'true' : nothing} />
      <button class="button primary" type="submit" aria-disabled=${busy}>${say('sign-in.enter')}</button>
    </form>
    ${problem ? notice(problem, null) : nothing}
    <p class="muted small">${say('sign-in.help')} <code>batag keys add NAME --scope tag</code></p>
  </section>`;
}
