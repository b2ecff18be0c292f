export interface LoginChoices {
  /** Whether users can log in with passwords here. */
  hasPasswords: boolean;
  /** Whether an identity provider is set up. */
  hasProvider: boolean;
}

const forms = ({ hasPasswords, hasProvider }: LoginChoices, to: string): string =>
  [
    hasProvider
      ? `<p class="provider"><a class="button" href="/login/oidc?${new URLSearchParams({ to }).toString()}">Log in with your organization</a></p>`
      : '',
    hasPasswords
      ? `<form method="post" action="/login">
<input type="hidden" name="to" value="${escaped(to)}">
<label for="name">Name</label>
<input id="name" name="name" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus>
<label for="password">Password</label>
<div><input id="password" name="password" type="password" autocomplete="current-password" required><button>Log in</button></div>
</form>`
      : '',
  ].join('');

const tokenForm = (autofocus: boolean): string => `<form>
<label for="token">Or paste the token</label>
<div><input id="token" name="token" type="password" autocomplete="${autofocus ? 'current-password' : 'off'}" required${autofocus ? ' autofocus' : ''}><button>Open</button></div>
</form>`;

const openHint = `<p>Open the address that logs in once: <code>npm start</code> prints one, and <code>npx belay open</code> makes another.</p>`;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** The page for a browser without a login. Its token form is sent to the same address as `?token=`. */
export const lockedPage = (
  fault?: string,
  choices: LoginChoices = { hasPasswords: false, hasProvider: false },
  to = '/',
): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Belay is locked</title>
<meta name="color-scheme" content="light dark">
<script src="/login.js"></script>
<style>
  body { font: 14px/20px system-ui, sans-serif; max-width: 26rem; margin: 24vh auto; padding: 0 1rem }
  h1 { font-size: 20px; line-height: 28px; font-weight: 600; margin: 0 }
  label { display: block; font-weight: 500; margin-bottom: 4px }
  form { margin-top: 20px }
  form > input, form > div + label { margin-bottom: 12px; width: 100% }
  .button { display: inline-flex; align-items: center; height: 32px; padding: 0 12px; border-radius: 5px; background: CanvasText; color: Canvas; font-weight: 500; text-decoration: none }
  .provider { margin-top: 20px }
  details { margin-top: 28px } summary { cursor: pointer; opacity: .7 }
  div { display: flex; gap: 8px }
  input, button { font: inherit; height: 32px; box-sizing: border-box; border-radius: 5px; padding: 0 12px; border: 1px solid #8a8a85 }
  input { flex: 1; min-width: 0; background: Canvas; color: CanvasText }
  button { background: CanvasText; color: Canvas; font-weight: 500; cursor: pointer }
  :focus-visible { outline: 2px solid light-dark(#935000, #f5b83d); outline-offset: 1px }
  [role=alert] { color: light-dark(#b3261e, #ff7b72) }
</style>
<main>
<h1>Belay is locked</h1>
${fault ? `<p role="alert">${escaped(fault)}</p>` : ''}
${
  choices.hasPasswords || choices.hasProvider
    ? forms(choices, to) +
      `<details><summary>Log in as the owner</summary>${openHint}${tokenForm(false)}</details>`
    : openHint + tokenForm(true)
}
</main>
`;
