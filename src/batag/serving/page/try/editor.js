/** Where a page is typed, pasted or picked. */

import { html, nothing } from '../vendor/lit-html.js';
import { PAGE_LANGUAGES, language as pageLanguage, say } from '../site/language.js';
import { codePoints } from './code_points.js';
import { EXAMPLES } from './examples.js';

/** @typedef {import('../site/service.js').PageText} PageText */
/** @typedef {import('./examples.js').Example} Example */
/**
 * @typedef {object} EditorOptions
 * @property {PageText} text
 * @property {string} language chosen; empty: detected
 * @property {string} detected
 * @property {number} limit most characters of a page
 * @property {boolean} busy
 * @property {(change: Partial<PageText>) => void} typed
 * @property {(language: string) => void} spoken
 * @property {(example: Example) => void} picked
 * @property {() => void} cleared
 * @property {() => void} submitted
 */

/** The languages of pages, each by its own name. @type {[string, string][]} */
const LANGUAGES = [...PAGE_LANGUAGES, ['zh-Hans', '简体中文']];

const COMMAND = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';

/** @param {string} language */
export const languageName = (language) => LANGUAGES.find(([name]) => name === language)?.[1] ?? language;

/** The examples in the reader's language first.
 * @param {Example[]} examples */
const ordered = (examples) => [...examples].sort((one, other) => Number(other.language === pageLanguage()) - Number(one.language === pageLanguage()));

/** @param {PageText} text */
export const isEmpty = (text) => !text.title.trim() && !text.description.trim();

/** @param {EditorOptions} options */
export function editor({ text, language, detected, limit, busy, typed, spoken, picked, cleared, submitted }) {
  const length = codePoints(text.title) + codePoints(text.description);
  const lang = language || detected || nothing;
  /** @param {'title' | 'description'} field @param {Event} event */
  const changed = (field, event) => typed({ [field]: /** @type {HTMLTextAreaElement} */ (event.target).value });
  /** @param {KeyboardEvent} event */
  const keys = (event) => {
    if (event.isComposing || event.keyCode === 229 || event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    submitted();
  };
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    submitted();
  };
  return html`<form class="card editor" aria-labelledby="editor-title" @submit=${submit} @keydown=${keys}>
    <h1 id="editor-title">${say('editor.title')}</h1>
    <div class="examples" role="group" aria-label=${say('editor.examples')}>
      <span class="muted small" aria-hidden="true">${say('editor.examples')}</span>
      ${ordered(EXAMPLES).map(
        (example) => html`<button
          type="button"
          class="chip"
          lang=${example.language}
          aria-pressed=${text.title === example.title && text.description === example.description}
          @click=${() => picked(example)}
        >
          ${example.name}
        </button>`,
      )}
    </div>
    <div class="field">
      <label for="title">${say('editor.name')}</label>
      <textarea id="title" rows="2" lang=${lang} placeholder=${say('editor.name.hint')} .value=${text.title} @input=${(/** @type {Event} */ event) => changed('title', event)}></textarea>
    </div>
    <div class="field grows">
      <label for="description">${say('editor.description')}</label>
      <textarea id="description" rows="7" lang=${lang} placeholder=${say('editor.description.hint')} .value=${text.description} @input=${(/** @type {Event} */ event) => changed('description', event)}></textarea>
    </div>
    <div class="under">
      <label class="small"
        ><span>${say('editor.language')}</span>
        <select @change=${(/** @type {Event} */ event) => spoken(/** @type {HTMLSelectElement} */ (event.target).value)}>
          <option value="" ?selected=${!language}>${detected ? say('editor.detected', { language: languageName(detected) }) : say('editor.detect')}</option>
          ${LANGUAGES.map(([name, title]) => html`<option value=${name} lang=${name} ?selected=${name === language}>${title}</option>`)}
        </select>
      </label>
      <span class="small length ${length > limit ? 'bad' : 'muted'}">${say('editor.length', { count: length })}</span>
    </div>
    <div class="actions">
      <button type="submit" class="button primary" aria-disabled=${isEmpty(text)}>${say(busy ? 'editor.busy' : 'editor.tag')}</button>
      <button type="button" class="button" ?disabled=${isEmpty(text)} @click=${cleared}>${say('editor.clear')}</button>
      <span class="muted small keys"><kbd>${COMMAND}</kbd> <kbd>Enter</kbd></span>
    </div>
  </form>`;
}
