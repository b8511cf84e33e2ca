/** The start of the page: language, session and bundle are asked for side by side, then every change draws the page again. */

import { html, nothing, render } from './vendor/lit-html.js';
import { header } from './site/header.js';
import { marks } from './site/icons.js';
import { preferred, speak } from './site/language.js';
import { notice } from './site/notice.js';
import { Refused, readModel, refreshSession, signedOut } from './site/service.js';
import { signInBox } from './site/sign_in.js';
import { tryView } from './try/try.js';

/** @typedef {import('./site/service.js').Problem} Problem */

const root = /** @type {HTMLElement} */ (document.getElementById('app'));
/** @type {Problem | null} */
let problem = null;
let drawing = false;
let speaking = false;

/** Draw once, however often it is asked for before the next frame. */
function update() {
  if (drawing || !speaking) return;
  drawing = true;
  queueMicrotask(() => {
    drawing = false;
    draw();
  });
}

const view = tryView(update);
// Search and Review will stand here; the header shows the views as soon as there are two.
const views = [view];

function draw() {
  render(
    html`${marks()}${header(views, view.name, update)}
      <main id="main" tabindex="-1">
        ${problem ? notice(problem, start) : nothing} ${signedOut() ? signInBox(update, start) : view.draw()}
      </main>`,
    root,
  );
}

async function start() {
  try {
    await refreshSession();
    if (!signedOut()) view.use(await readModel());
    problem = null;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    problem = error.problem;
  }
  update();
}

const started = start();
await speak(preferred());
speaking = true;
draw();
await started;
