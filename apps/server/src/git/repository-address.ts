import { AppError } from '@belay/protocol';
import { normalHost, type EgressTarget } from '../egress/policy.js';

/** Where a repository is, in one spelling: no user, no query, no final slash. */
export interface RepositoryAddress extends EgressTarget {
  /** `https://host/path`, as it may be shown and stored. */
  readonly url: string;
  /** `https://host:port` without the usual port. */
  readonly origin: string;
  /** Without slashes around it, as `owner/name.git`. */
  readonly path: string;
}

const maxLength = 1_000;

/** Throws `invalid_input` with a sentence for what is not an address of a repository by HTTP. */
export function repositoryAddress(given: string): RepositoryAddress {
  const text = given.trim();
  if (text.length > maxLength) throw refused('it is too long');
  if (/^ssh:|^[\w.-]+@[\w.-]+:/.test(text))
    throw refused(`ssh is not supported: use ${httpsOf(text) ?? 'its https address'}`);
  if (!/^https?:\/\//i.test(text)) throw refused('write it as https://host/owner/name');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const host = url && normalHost(url.hostname);
  if (!url || !host) throw refused('write it as https://host/owner/name');
  if (url.username || url.password)
    throw refused('leave out the user and token: tokens are kept under Settings, Git hosts');
  if (url.search || url.hash) throw refused('leave out what follows ? or #');
  const path = url.pathname.replaceAll(/^\/+|\/+$/g, '');
  // As in a path of files: what a proxy on the way decodes must not be another repository.
  const parts = path.split('/').map((part) => decoded(part));
  if (path === '' || parts.some((part) => part === undefined || !isPlainPart(part)))
    throw refused('it names no repository: write it as https://host/owner/name');
  const secure = url.protocol === 'https:';
  return {
    url: `${url.origin}/${path}`,
    origin: url.origin,
    host,
    port: Number(url.port) || (secure ? 443 : 80),
    path,
  };
}

/** What an address for ssh is by HTTP on the hosts that have both. */
function httpsOf(text: string): string | undefined {
  const [, host, path] =
    /^(?:ssh:\/\/)?(?:[\w.-]+@)?([\w.-]+)(?::\d+)?[:/]\/?([\w.~/-]+)$/.exec(text) ?? [];
  return host && path && `https://${host}/${path}`;
}

const decoded = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
};

const isPlainPart = (part: string): boolean =>
  // oxlint-disable-next-line no-control-regex
  part !== '' && part !== '.' && part !== '..' && !/[\u0000-\u0020\u007f\\/]/.test(part);

const refused = (why: string): AppError =>
  new AppError('invalid_input', `The repository’s address cannot be used: ${why}.`);
