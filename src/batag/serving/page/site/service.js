/** Requests to the service this page came from, and what went wrong with one. */

/** @typedef {{type: string, title: string, status: number, detail: string, where: string, todo: string, wait: number | null}} Problem */
/** @typedef {{open: boolean, scopes: string[], csrf: string | null}} Session */
/** @typedef {{title: string, description: string}} PageText */
/**
 * @typedef {object} Tag
 * @property {string} field
 * @property {number} start offset in code points
 * @property {number} end
 * @property {string} label
 * @property {string} text
 * @property {number} score
 * @property {string} [normal]
 * @property {string} [canonical]
 * @property {string} [category]
 * @property {string} source
 * @property {number} richness the cleanest of the 21 steps that has it
 */
/** @typedef {{field: string, start: number, end: number, text: string, inside: boolean, score: number, change: number}} MovingToken */
/** @typedef {{score: number, tokens_of_page: number, tokens: MovingToken[]}} Explanation */
/**
 * @typedef {object} Model
 * @property {string} name
 * @property {string} bundle
 * @property {string[]} labels
 * @property {boolean} dial
 * @property {{page_characters: number}} limits
 */
/** @typedef {{id: string | null, language: string | null, error: string | null, tags: Tag[]}} TaggedPage */

const PREFIX = 'urn:batag:';

/** An answer that is an error; `problem` says which. */
export class Refused extends Error {
  /** @param {Problem} problem */
  constructor(problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** @type {Session} */
let session = { open: true, scopes: [], csrf: null };

/** Whether requests need a key that has not been given yet. */
export const signedOut = () => !session.open && session.scopes.length === 0;
/** Whether this server asks for keys. */
export const usesKeys = () => !session.open;

export async function refreshSession() {
  session = await ask('/v1/session', { method: 'GET' });
}

/** @param {string} key */
export async function signIn(key) {
  session = await ask('/v1/session', { body: { key } });
}

export async function signOut() {
  await ask('/v1/session', { method: 'DELETE' });
  await refreshSession();
}

/** @returns {Promise<Model>} */
export async function readModel() {
  return (await ask('/v1/models', { method: 'GET' })).models[0];
}

/** The tags of a page at all 21 steps.
 * @param {PageText} page @param {string} language empty: detected @param {string} naming the language of canonical forms
 * @param {AbortSignal} signal
 * @returns {Promise<TaggedPage>} */
export async function tagPage(page, language, naming, signal) {
  const body = { page: spoken(page, language), steps: 21, canonical_language: naming };
  return (await askSignedIn('/v1/tag', body, signal)).pages[0];
}

/** Which words moved a tag's score.
 * @param {PageText} page @param {string} language @param {Tag} tag
 * @returns {Promise<Explanation>} */
export async function explainTag(page, language, { field, start, end, label }) {
  return askSignedIn('/v1/explain', { page: spoken(page, language), tag: { field, start, end, label } });
}

/** @param {PageText} page @param {string} language */
const spoken = (page, language) => (language ? { language, ...page } : page);

/** Once more if the session has changed meanwhile, as in another window.
 * @param {string} path @param {object} body @param {AbortSignal} [signal]
 * @returns {Promise<any>} */
async function askSignedIn(path, body, signal) {
  try {
    return await ask(path, { body, signal });
  } catch (error) {
    if (!(error instanceof Refused) || !['no-key', 'no-csrf'].includes(error.problem.type)) throw error;
    await refreshSession();
    if (signedOut()) throw error;
    return ask(path, { body, signal });
  }
}

/** @param {string} path @param {{method?: string, body?: object, signal?: AbortSignal}} options
 * @returns {Promise<any>} */
async function ask(path, { method = 'POST', body, signal }) {
  /** @type {Record<string, string>} */
  const headers = { Accept: 'application/json' };
  if (body) headers['Content-Type'] = 'application/json';
  if (session.csrf && method !== 'GET') headers['X-CSRF-Token'] = session.csrf;
  let answer, text;
  try {
    answer = await fetch(path, { method, headers, signal, credentials: 'same-origin', body: body && JSON.stringify(body) });
    text = await answer.text();
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Refused(problemOf('unreachable', 0));
  }
  const content = parsed(text);
  if (answer.ok && (content !== undefined || !text)) return content;
  if (!content?.type) throw new Refused(problemOf('unreadable', answer.status));
  const wait = Number(answer.headers.get('Retry-After'));
  throw new Refused({ ...problemOf('', answer.status), ...content, type: content.type.replace(PREFIX, ''), wait: wait || null });
}

/** @param {string} type @param {number} status @returns {Problem} */
const problemOf = (type, status) => ({ type, title: '', status, detail: '', where: '', todo: '', wait: null });

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
