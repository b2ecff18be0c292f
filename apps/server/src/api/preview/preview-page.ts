import { escapedHtml, plainPage } from '../plain-page.js';

/** A page with one sentence, for errors of a preview. */
export const sentencePage = (sentence: string): string =>
  plainPage('Preview', `<p>${escapedHtml(sentence)}</p>`);

/**
 * Leads to a path of the same origin. A redirect would count as cross-site, because it started at the dashboard’s
 * site; navigation by this page does not.
 */
export const stepPage = (path: string): string =>
  plainPage('Opening…', `<meta http-equiv="refresh" content="0;url=${escapedHtml(path)}">`);

/** For these pages only: they run nothing and load nothing. */
export const pagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
