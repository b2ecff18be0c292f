/** Names of files that usually contain passwords, keys or tokens; templates of them do not. */
const names = [
  /^\.env(\..+)?$/,
  /\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)$/,
  /^(\.netrc|_netrc|\.git-credentials|\.pypirc|\.pgpass|\.my\.cnf|\.htpasswd|\.vault-token)$/,
  /^(credentials|secrets?)(\.(json|ya?ml|toml|ini|txt|xml))?$/,
  /^(service[-_]?account|client_secret).*\.json$/,
  /\.tfstate(\.backup)?$/,
];
const template = /\.(example|sample|template|dist|defaults?)$|\.pub$/;

/** Whether the name of a file is one of those that usually contain secrets. */
export function looksSecret(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return !template.test(name) && names.some((pattern) => pattern.test(name));
}

/** The formats in which well-known issuers write keys and tokens. */
const contents: readonly (readonly [RegExp, what: string])[] = [
  [/-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----/, 'a private key'],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/, 'an AWS key'],
  [/\bgh[pousr]_[A-Za-z0-9]{36}\b|\bgithub_pat_\w{50}/, 'a GitHub token'],
  [/\bglpat-[\w-]{20}/, 'a GitLab token'],
  [/\bsk-ant-[\w-]{30}/, 'an Anthropic key'],
  [/\bsk-(?:proj-)?[A-Za-z0-9_-]{32}/, 'an OpenAI key'],
  [/\bAIza[\w-]{35}/, 'a Google key'],
  [/\bxox[abeoprs]-[\w-]{20}/, 'a Slack token'],
  [/\b[sr]k_live_[A-Za-z0-9]{20}/, 'a Stripe key'],
  [/\bnpm_[A-Za-z0-9]{36}\b|_authToken=[^\s$]{8}/, 'an npm token'],
];

/** What a text seems to contain that should stay secret; undefined for nothing. */
export const secretIn = (text: string): string | undefined =>
  contents.find(([pattern]) => pattern.test(text))?.[1];
