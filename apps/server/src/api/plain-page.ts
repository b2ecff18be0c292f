/**
 * A page outside the dashboard, in its colours. It loads no styles, because its reader may not be
 * logged in. The body is HTML, and so are its texts, which must be escaped.
 */
export const plainPage = (title: string, body: string): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title>
<meta name="color-scheme" content="light dark">
<style>
  body { font: 14px/20px system-ui, sans-serif; max-width: 26rem; margin: 20vh auto; padding: 0 1rem; overflow-wrap: anywhere; background: light-dark(#f7f7f5, #0f1012); color: light-dark(#1b1d1f, #e7e8ea) }
  h1 { font-size: 20px; line-height: 28px; font-weight: 600; margin: 0 }
  label, legend { display: block; padding: 0; font-weight: 500; margin-bottom: 4px }
  form { margin-top: 20px }
  form > input, form > div + label { margin-bottom: 12px; width: 100% }
  form > div { display: flex; gap: 8px }
  input, button, .button { font: inherit; height: 32px; box-sizing: border-box; border-radius: 5px; padding: 0 12px; border: 1px solid #8a8a85; background: light-dark(#fff, #15171a); color: inherit }
  input { flex: 1; min-width: 0 }
  fieldset { margin: 0 0 12px; border: 0; padding: 0 }
  fieldset label { display: flex; gap: 8px; font-weight: 400 }
  [type=radio] { flex: none; height: 20px; margin: 0; accent-color: currentColor }
  button, .button { font-weight: 500; cursor: pointer; text-decoration: none }
  button:not(.secondary), .button { border-color: transparent; background: light-dark(#24272a, #e7e8ea); color: light-dark(#fff, #15171a) }
  .button { display: inline-flex; align-items: center }
  .provider { margin-top: 20px }
  details { margin-top: 28px } summary { cursor: pointer; opacity: .7 }
  :focus-visible { outline: 2px solid light-dark(#935000, #f5b83d); outline-offset: 1px }
  [role=alert] { color: light-dark(#b3261e, #ff7b72) }
  [role=note] { border-radius: 5px; padding: 8px 12px; background: light-dark(#fdf1d8, #33270d) }
  .hint { opacity: .7 }
</style>
<main>
${body}
</main>
`;

/** A text as HTML, also within an attribute. */
export const escapedHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
