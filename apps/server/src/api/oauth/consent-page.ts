import type { AuthorizationRequest } from '@belay/protocol';
import { escapedHtml, plainPage } from '../plain-page.js';
import type { OAuthClient } from './oauth-clients.store.js';

/** The page on which the user allows an application; its script sends the decision with the page’s key. */
export function consentPage(client: OAuthClient, request: AuthorizationRequest): string {
  const { origin, warning } = describedRedirect(request.redirect_uri);
  return page(`<h1>Allow an application</h1>
<p><b>${escapedHtml(client.name)}</b> wants to use this Belay server. It chose this name itself. The answer goes to
<code>${escapedHtml(origin)}</code>.</p>
${warning && `<p role="note"><b>${escapedHtml(warning)}</b></p>`}
<form id="consent" data-request="${escapedHtml(JSON.stringify(request))}">
<fieldset><legend>It may</legend>
<label><input type="radio" name="grant" value="operate" checked>start sessions, talk to agents and run commands in their sandboxes</label>
<label><input type="radio" name="grant" value="view">read only</label></fieldset>
<fieldset><legend>In</legend>
<label><input type="radio" name="sessions" value="own" checked>sessions that it starts</label>
<label><input type="radio" name="sessions" value="all">all sessions</label></fieldset>
<div><button name="allow" value="yes">Allow</button><button class="secondary" name="allow" value="no">Reject</button></div>
</form>
<p id="problem" role="alert"></p>
<p class="hint">Access ends after 30 days without use. <code>belay tokens</code> lists and revokes it.</p>
<script src="/oauth/authorize.js"></script>`);
}

/** Where the answer goes, with the scheme: only `https` proves who gets it. */
function describedRedirect(redirect: string): { origin: string; warning: string } {
  const { protocol, host } = new URL(redirect);
  const origin = `${protocol}//${host}`;
  if (protocol === 'https:') return { origin, warning: '' };
  const receiver =
    protocol === 'http:'
      ? 'the program that listens there on your machine'
      : `whichever program on your machine opens ${protocol} addresses`;
  return { origin, warning: `That is not a website. The answer goes to ${receiver}.` };
}

export const messagePage = (text: string): string =>
  page(`<p role="status">${escapedHtml(text)}</p>`);

export const consentScript = `const form = document.getElementById('consent');
const problem = document.getElementById('problem');
const key = localStorage.getItem('belay-key');
const logIn = 'Log in here first: run npx belay open, then load this page again.';
if (!key) problem.textContent = logIn;
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { grant, sessions } = Object.fromEntries(new FormData(form));
  const allow = event.submitter.value === 'yes';
  const body = JSON.stringify({ ...JSON.parse(form.dataset.request), allow, grant, sessions });
  const headers = { 'content-type': 'application/json', authorization: 'Bearer ' + key };
  const response = await fetch('/oauth/consents', { method: 'POST', headers, body });
  const answer = await response.json();
  if (response.ok) location.assign(answer.redirect);
  else problem.textContent = response.status === 401 ? logIn : answer.detail;
});
`;

const page = (body: string): string => plainPage('Belay', body);
