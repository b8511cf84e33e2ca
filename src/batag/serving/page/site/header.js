/** The top of every view: name, views (as soon as there are several), language, theme, session. */

import { html, nothing } from '../vendor/lit-html.js';
import { globe, halves, logo, moon, sun } from './icons.js';
import { PAGE_LANGUAGES, language, remember, say, speak, store, stored } from './language.js';
import { signOut, signedOut, usesKeys } from './service.js';

/** @typedef {import('./language.js').PageLanguage} PageLanguage */
/** @typedef {{name: string, draw: () => unknown}} View */

const THEMES = /** @type {const} */ (['system', 'light', 'dark']);
const PICTURES = { system: halves, light: sun, dark: moon };

/** @returns {(typeof THEMES)[number]} */
const theme = () => THEMES.find((each) => each === stored('batag.theme')) ?? 'system';

/** @param {View[]} views @param {string} current @param {() => void} update */
export function header(views, current, update) {
  /** @param {Event} event */
  const choose = async (event) => {
    const list = /** @type {HTMLSelectElement} */ (event.target);
    const name = /** @type {PageLanguage} */ (list.value);
    try {
      await speak(name);
      remember(name);
    } catch {
      list.value = language();
    }
    update();
  };
  const turn = () => {
    const next = THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length];
    store('batag.theme', next === 'system' ? null : next);
    if (next === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    update();
  };
  const leave = async () => {
    await signOut();
    update();
  };
  const themeName = say(`theme.${theme()}`);
  return html`<header class="top">
    <a class="skip" href="#main">${say('page.skip')}</a>
    <div class="top-inner">
      <a class="name" href="./" aria-label="batag">${logo()}<span>batag</span></a>
      ${views.length > 1
        ? html`<nav aria-label=${say('page.views')}>
            ${views.map((view) => html`<a href="#/${view.name}" aria-current=${view.name === current ? 'page' : nothing}>${say(`view.${view.name}`)}</a>`)}
          </nav>`
        : html`<p class="tagline">${say('page.tagline')}</p>`}
      <div class="top-tools">
        <a class="tool" href="docs">${say('page.docs')}</a>
        <label class="tool select">
          ${globe()}<span class="hidden">${say('page.language')}</span>
          <select @change=${choose}>
            ${PAGE_LANGUAGES.map(([name, title]) => html`<option value=${name} lang=${name} ?selected=${name === language()}>${title}</option>`)}
          </select>
        </label>
        <button type="button" class="tool picture" title=${themeName} aria-label=${themeName} @click=${turn}>${PICTURES[theme()]()}</button>
        ${usesKeys() && !signedOut() ? html`<button type="button" class="tool" @click=${leave}>${say('sign-in.leave')}</button>` : nothing}
      </div>
    </div>
  </header>`;
}
