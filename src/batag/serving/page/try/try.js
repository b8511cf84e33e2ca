/** Try: a page in, tags out. The state of the view and what changes it stand here; the parts only draw. */

import { html } from '../vendor/lit-html.js';
import { language as readers, say } from '../site/language.js';
import { Refused, explainTag, tagPage, usesKeys } from '../site/service.js';
import { codePoints, wellFormed } from './code_points.js';
import { asCsv, asJson, copy } from './copying.js';
import { BALANCED, richness } from './dial.js';
import { drawer } from './drawer.js';
import { editor, isEmpty } from './editor.js';
import { keyOf } from './labels.js';
import { result } from './result.js';
import { hide, hideBesideWhy, point } from './tip.js';
import { topTags } from './top_tags.js';
import { whyTag } from './why.js';

/** @typedef {import('../site/service.js').Tag} Tag */
/** @typedef {import('../site/service.js').Model} Model */
/** @typedef {import('../site/service.js').PageText} PageText */
/** @typedef {import('../site/service.js').Problem} Problem */
/** @typedef {import('./why.js').Why} Why */

const PAUSE = 400;
const USUAL_LABELS = ['brand', 'goods', 'feature'];

/** The view; `update` draws the page again.
 * @param {() => void} update */
export function tryView(update) {
  /** @type {Model | null} */
  let model = null;
  /** @type {PageText} */
  let text = { title: '', description: '' };
  let language = '';
  /** the language of the canonical forms of the answer */
  let naming = '';
  /** @type {{page: PageText, language: string, tags: Tag[]} | null} */
  let answer = null;
  /** @type {Problem | null} */
  let problem = null;
  let step = BALANCED;
  /** @type {Set<string>} */
  const hidden = new Set();
  /** @type {Tag | null} */
  let chosen = null;
  /** @type {Map<string, Why>} */
  const whys = new Map();
  /** @type {'curl' | 'Python'} */
  let kind = 'curl';
  /** @type {string | null} */
  let copied = null;
  /** @type {AbortController | null} */
  let asking = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let forgetting;

  const labels = () => model?.labels ?? USUAL_LABELS;
  const limit = () => model?.limits.page_characters ?? Infinity;
  /** @param {Tag} tag */
  const shown = (tag) => tag.richness <= richness(step) + 1e-9 && !hidden.has(tag.label);

  const sent = () => ({ title: wellFormed(text.title), description: wellFormed(text.description) });

  /** @param {boolean} [shows] whether the reader asked for the answer and wants to see it */
  async function tag(shows = false) {
    clearTimeout(pause);
    asking?.abort();
    asking = null;
    const page = sent();
    if (isEmpty(page)) return empty();
    if (codePoints(page.title) + codePoints(page.description) > limit()) {
      empty();
      return refuse({ type: 'too-long' });
    }
    const mine = (asking = new AbortController());
    naming = readers();
    update();
    try {
      const tagged = await tagPage(page, language, naming, mine.signal);
      if (tagged.error !== null) throw new Refused(problemOf({ type: 'page', detail: tagged.error }));
      hide();
      answer = { page, language: tagged.language ?? '', tags: tagged.tags };
      problem = null;
      whys.clear();
      chosen = answer.tags.find((each) => chosen && keyOf(each) === keyOf(chosen) && each.text === chosen.text) ?? null;
      if (chosen) explain(chosen);
      if (shows) requestAnimationFrame(show);
    } catch (error) {
      if (asking !== mine) return;
      if (!(error instanceof Refused)) throw error;
      problem = error.problem;
    } finally {
      if (asking === mine) asking = null;
      update();
    }
  }

  /** @param {Tag} tag */
  async function explain(tag) {
    const key = keyOf(tag);
    const of = answer;
    if (!of || whys.has(key)) return;
    whys.set(key, null);
    update();
    try {
      const explanation = await explainTag(of.page, of.language, tag);
      if (answer === of) whys.set(key, { explanation });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (answer === of) whys.set(key, { problem: error.problem });
    }
    update();
  }

  /** On a phone the answer stands below the editor. */
  function show() {
    const card = document.querySelector('.result');
    if (card && card.getBoundingClientRect().top > innerHeight * 0.6) card.scrollIntoView({ block: 'start' });
  }

  function empty() {
    answer = problem = chosen = null;
    whys.clear();
    hide();
    update();
  }

  /** @param {Partial<Problem>} what */
  function refuse(what) {
    problem = problemOf(what);
    update();
  }

  /** @param {string} what @param {string} written */
  async function copying(what, written) {
    const done = await copy(written);
    clearTimeout(forgetting);
    copied = done ? what : 'failed';
    forgetting = setTimeout(() => {
      copied = null;
      update();
    }, 2000);
    update();
  }

  const changes = {
    /** @param {Partial<PageText>} change */
    typed(change) {
      text = { ...text, ...change };
      clearTimeout(pause);
      pause = setTimeout(() => tag(), PAUSE);
      update();
    },
    /** @param {string} name */
    spoken(name) {
      language = name;
      tag();
    },
    /** @param {import('./examples.js').Example} example */
    picked({ title, description }) {
      text = { title, description };
      language = '';
      tag(true);
    },
    cleared() {
      text = { title: '', description: '' };
      tag();
      document.getElementById('title')?.focus();
    },
    submitted: () => tag(true),
    /** @param {number} to */
    moved(to) {
      step = to;
      hide();
      update();
    },
    /** @param {string} label */
    turned(label) {
      if (!hidden.delete(label)) hidden.add(label);
      update();
    },
    /** @param {Tag} tag */
    choose(tag) {
      chosen = tag;
      hideBesideWhy();
      update();
      explain(tag);
    },
  };

  function draw() {
    // Another language of the page has other names for the same tags.
    if (answer && naming !== readers()) tag();
    const tags = answer?.tags ?? [];
    const shownTags = tags.filter(shown);
    const counts = new Map(labels().map((label) => [label, tags.filter((each) => each.label === label && each.richness <= richness(step) + 1e-9).length]));
    const key = chosen && keyOf(chosen);
    const request = {
      page: isEmpty(text) ? { title: say('drawer.example'), description: '' } : sent(),
      language,
      naming: readers(),
      richness: model?.dial === false ? null : richness(step),
      labels: hidden.size ? labels().filter((label) => !hidden.has(label)) : null,
      keys: usesKeys(),
    };
    const at = answer;
    return html`<div class="try">
      ${editor({ text, language, detected: answer?.language ?? '', limit: limit(), busy: asking !== null, ...changes })}
      <div class="answer ${asking ? 'busy' : ''}">
        ${result({
          ...{ answer, shownTags, problem, busy: asking !== null, labels: labels(), hasDial: model?.dial ?? true, step, hidden, shown, counts, chosen: key, copied },
          ...changes,
          point: (tag, element) => point(tag, element, labels()),
          copying: (what) => at && copying(what, what === 'JSON' ? asJson(at.page, at.language, shownTags) : asCsv(shownTags)),
          retry: () => tag(),
        })}
        <div class="parts">
          ${topTags(shownTags, labels(), answer?.language ?? '', key, changes.choose)}
          ${whyTag(chosen, (key && whys.get(key)) || null, {
            labels: labels(),
            language: answer?.language ?? '',
            shown: !chosen || shown(chosen),
            retry: () => {
              if (!chosen || !key) return;
              whys.delete(key);
              explain(chosen);
            },
          })}
        </div>
        ${drawer(request, kind, (to) => ((kind = to), update()), copied === 'snippet', (written) => copying('snippet', written))}
      </div>
    </div>`;
  }

  /** @param {Model} read */
  function use(read) {
    model = read;
    update();
  }
  return { name: 'try', draw, use };
}

/** @param {Partial<Problem>} what @returns {Problem} */
const problemOf = (what) => ({ type: '', title: '', status: 0, detail: '', where: '', todo: '', wait: null, ...what });
