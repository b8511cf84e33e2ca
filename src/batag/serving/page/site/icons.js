/** The page's own pictures; those that only decorate are hidden from screen readers. */

import { html, svg } from '../vendor/lit-html.js';

/** @param {unknown} drawing @param {string} [kind] */
const icon = (drawing, kind = '') => html`<svg class="icon ${kind}" viewBox="0 0 24 24" aria-hidden="true">${drawing}</svg>`;

export const sun = () => icon(svg`<circle cx="12" cy="12" r="4" /><path d="M12 2.5v2.5M12 19v2.5M2.5 12h2.5M19 12h2.5M5.3 5.3l1.8 1.8M16.9 16.9l1.8 1.8M5.3 18.7l1.8-1.8M16.9 7.1l1.8-1.8" />`);
export const moon = () => icon(svg`<path d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z" />`);
export const halves = () => icon(svg`<circle cx="12" cy="12" r="8.5" /><path class="full" d="M12 3.5a8.5 8.5 0 0 1 0 17Z" />`);
export const copy = () => icon(svg`<rect x="8.5" y="8.5" width="12" height="12" rx="2.5" /><path d="M15.5 8.5V6A2.5 2.5 0 0 0 13 3.5H6A2.5 2.5 0 0 0 3.5 6v7A2.5 2.5 0 0 0 6 15.5h2.5" />`);
export const done = () => icon(svg`<path d="m5 12.5 4.5 4.5L19 7.5" />`, 'done');
export const warning = () => icon(svg`<path d="M12 4 2.8 20h18.4L12 4ZM12 10v4.5M12 17.4v.1" />`);
export const code = () => icon(svg`<path d="m8.5 7-5 5 5 5M15.5 7l5 5-5 5" />`);
export const opening = () => icon(svg`<path d="m6 9.5 6 6 6-6" />`, 'opening');
export const key = () => icon(svg`<circle cx="8" cy="15.5" r="4.5" /><path d="m11.3 12.2 8.2-8.2M16 7.5l3 3" />`);
export const globe = () => icon(svg`<circle cx="12" cy="12" r="8.5" /><path d="M3.5 12h17M12 3.5c5 5 5 12 0 17c-5-5-5-12 0-17Z" />`);

export const logo = () => html`<svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
  <path class="logo-tag" d="M4 6.5A2.5 2.5 0 0 1 6.5 4H16.6a4 4 0 0 1 2.83 1.17L27 12.74a4 4 0 0 1 0 5.66L18.4 27a4 4 0 0 1-5.66 0L5.17 19.43A4 4 0 0 1 4 16.6Z" />
  <circle class="logo-hole" cx="10.5" cy="10.5" r="2.6" />
  <path class="logo-line" d="M13 19.5l6.5-6.5M17 22l4.5-4.5" />
</svg>`;

/** A page with three tags on it, for the empty result. */
export const emptyPage = () => html`<svg class="empty-page" viewBox="0 0 160 96" aria-hidden="true">
  <rect class="sheet" x="1" y="1" width="158" height="94" rx="8" />
  <rect class="line" x="16" y="20" width="22" height="8" rx="4" /><rect class="label-0" x="44" y="18" width="38" height="12" rx="3" /><rect class="line" x="88" y="20" width="30" height="8" rx="4" />
  <rect class="line" x="16" y="44" width="46" height="8" rx="4" /><rect class="label-1" x="68" y="42" width="54" height="12" rx="3" />
  <rect class="label-2" x="16" y="66" width="30" height="12" rx="3" /><rect class="line" x="52" y="68" width="66" height="8" rx="4" />
</svg>`;

const MARKS = [
  svg`<path d="M6 0 12 6 6 12 0 6Z" />`,
  svg`<circle cx="6" cy="6" r="5.5" />`,
  svg`<path d="M6 .5 12 11.5H0Z" />`,
  svg`<path d="M.8.8h10.4v10.4H.8Z" />`,
  svg`<path d="M4 0h4v4h4v4H8v4H4V8H0V4h4Z" />`,
  svg`<path d="M3 .8h6L12 6 9 11.2H3L0 6Z" />`,
  svg`<path d="M0 .5h12L6 11.5Z" />`,
  svg`<path d="M6 0a6 6 0 1 0 0 12A6 6 0 1 0 6 0Zm0 3.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 1 1 0-5.6Z" />`,
];

/** The marks of the labels, to be drawn by `mark`. */
export const marks = () => html`<svg class="marks" aria-hidden="true">
  ${MARKS.map((drawing, number) => svg`<symbol id="mark-${number}" viewBox="0 0 12 12">${drawing}</symbol>`)}
</svg>`;

/** The mark of one label.
 * @param {number} number */
export const mark = (number) => html`<svg class="mark" aria-hidden="true"><use href="#mark-${number % MARKS.length}"></use></svg>`;
