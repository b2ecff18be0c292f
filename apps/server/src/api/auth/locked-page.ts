import { escapedHtml, plainPage } from '../plain-page.js';

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
<input type="hidden" name="to" value="${escapedHtml(to)}">
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

/** The page for a browser without a login. Its token form is sent to the same address as `?token=`. */
export const lockedPage = (
  fault?: string,
  choices: LoginChoices = { hasPasswords: false, hasProvider: false },
  to = '/',
): string =>
  plainPage(
    'Belay is locked',
    `<script src="/login.js"></script>
<h1>Belay is locked</h1>
${fault ? `<p role="alert">${escapedHtml(fault)}</p>` : ''}
${
  choices.hasPasswords || choices.hasProvider
    ? forms(choices, to) +
      `<details><summary>Log in as the owner</summary>${openHint}${tokenForm(false)}</details>`
    : openHint + tokenForm(true)
}`,
  );
