/** A page with one sentence, for errors of a preview. */
export const sentencePage = (sentence: string): string =>
  page('Preview', `<p>${escaped(sentence)}</p>`);

/**
 * Leads to a path of the same origin. A redirect would count as cross-site, because it started at the dashboard’s
 * site; navigation by this page does not.
 */
export const stepPage = (path: string): string =>
  page('Opening…', `<meta http-equiv="refresh" content="0;url=${escaped(path)}">`);

/** For these pages only: they run nothing and load nothing. */
export const pagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const page = (title: string, content: string): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title>
<meta name="color-scheme" content="light dark">
<style>
  body { font: 14px/20px system-ui, sans-serif; max-width: 26rem; margin: 20vh auto; padding: 0 1rem; text-align: center; overflow-wrap: anywhere }
</style>
${content}
`;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
