/** The same request from a terminal and from Python. */

import { html } from '../vendor/lit-html.js';
import { code, copy, done, opening } from '../site/icons.js';
import { say } from '../site/language.js';

/** @typedef {import('../site/service.js').PageText} PageText */
/** @typedef {{page: PageText, language: string, naming: string, richness: number | null, labels: string[] | null, keys: boolean}} Request */

const KINDS = /** @type {const} */ (['curl', 'Python']);
/** @typedef {(typeof KINDS)[number]} Kind */

/** @param {Request} request */
function page({ page, language }) {
  const fields = Object.fromEntries(Object.entries(page).filter(([, text]) => text));
  return language ? { language, ...fields } : fields;
}

/** @param {Request} request */
export function asCurl(request) {
  const body = { page: page(request), ...options(request) };
  const key = request.keys ? ' \\\n  -H "Authorization: Bearer $BATAG_KEY"' : '';
  return `curl -s ${location.origin}/v1/tag \\\n  -H 'Content-Type: application/json'${key} \\\n  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'\n`;
}

/** @param {Request} request */
export function asPython(request) {
  // A text in JSON is the same text in Python.
  const named = Object.entries(options(request)).map(([name, value]) => `, ${name}=${JSON.stringify(value)}`);
  const key = request.keys ? ', key=os.environ["BATAG_KEY"]' : '';
  return `${request.keys ? 'import os\n\n' : ''}from batag.client import Client

page = ${JSON.stringify(page(request), null, 4)}
with Client("${location.origin}"${key}) as client:
    for tag in client.tag(page${named.join('')}):
        print(tag.label, tag.text, tag.score)
`;
}

/** @param {Request} request */
const options = ({ naming, richness, labels }) => ({ ...(richness === null ? {} : { richness }), ...(labels ? { labels } : {}), canonical_language: naming });

/** @param {Request} request @param {Kind} kind */
export const snippet = (request, kind) => (kind === 'curl' ? asCurl(request) : asPython(request));

/** @param {Request} request @param {Kind} kind @param {(kind: Kind) => void} chosen @param {boolean} copied @param {(text: string) => void} copying */
export function drawer(request, kind, chosen, copied, copying) {
  const text = snippet(request, kind);
  return html`<details class="card drawer">
    <summary>${code()}<span>${say('drawer.title')}</span>${opening()}</summary>
    <div class="drawer-head">
      <div class="tabs" role="group" aria-label=${say('drawer.kinds')}>
        ${KINDS.map((each) => html`<button type="button" class="tab" aria-pressed=${each === kind} @click=${() => chosen(each)}>${each}</button>`)}
      </div>
      <button type="button" class="button small" @click=${() => copying(text)}>${copied ? done() : copy()}<span>${say(copied ? 'copy.done' : 'copy.copy')}</span></button>
    </div>
    <pre tabindex="0" aria-label=${kind} translate="no">${text}</pre>
  </details>`;
}
