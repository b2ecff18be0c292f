import type { AuthorizationRequest } from '@belay/protocol';
import type { OAuthClient } from './oauth-clients.store.js';

/** The page on which the user allows an application; its script sends the decision with the page’s key. */
export function consentPage(client: OAuthClient, request: AuthorizationRequest): string {
  const { origin, warning } = describedRedirect(request.redirect_uri);
  return page(`<h1>Allow an application</h1>
<p><b>${escaped(client.name)}</b> wants to use this Belay server. It chose this name itself. The answer goes to
<code>${escaped(origin)}</code>.</p>
${warning && `<p role="note"><b>${escaped(warning)}</b></p>`}
<form id="consent" data-request="${escaped(JSON.stringify(request))}">
<p><label>It may <select name="grant">
<option value="operate">start sessions, talk to agents and run commands in their sandboxes</option>
<option value="view">read only</option></select></label></p>
<p><label>in <select name="sessions">
<option value="own">sessions that it starts</option>
<option value="all">all sessions</option></select></label></p>
<p><button name="allow" value="yes">Allow</button> <button name="allow" value="no">Reject</button></p>
</form>
<p id="problem" role="alert"></p>
<p>Access ends after 30 days without use. <code>belay tokens</code> lists and revokes it.</p>
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

export const messagePage = (text: string): string => page(`<p role="alert">${escaped(text)}</p>`);

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

const page = (body: string): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Belay</title>
<style>body{font:16px/1.5 system-ui;max-width:40rem;margin:3rem auto;padding:0 1rem}</style>
${body}
</html>`;

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
