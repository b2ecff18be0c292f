import { AppError } from '@belay/protocol';
import { normalHost, type EgressTarget } from '../egress/policy.js';

/** A repository’s address in canonical form: no user, no query, no final slash. */
export interface RepositoryAddress extends EgressTarget {
  /** `https://host/path`, which may be shown and stored. */
  readonly url: string;
  /** `https://host:port` without the usual port. */
  readonly origin: string;
  /** The path without slashes at its ends, like `owner/name.git`. */
  readonly path: string;
}

const maxLength = 1_000;

/** Throws `invalid_input` with a sentence for text that is not an HTTP address of a repository. */
export function repositoryAddress(given: string): RepositoryAddress {
  const url = readUrl(given.trim());
  const host = normalHost(url.hostname);
  if (!host) throw refused(asHttps);
  const path = url.pathname.replaceAll(/^\/+|\/+$/g, '');
  // Decoded like a file path, because a proxy that decodes it must not reach another repository.
  const parts = path.split('/').map((part) => decoded(part));
  if (path === '' || parts.some((part) => part === undefined || !isPlainPart(part)))
    throw refused(`it names no repository: ${asHttps}`);
  const secure = url.protocol === 'https:';
  return {
    url: `${url.origin}/${path}`,
    origin: url.origin,
    host,
    port: Number(url.port) || (secure ? 443 : 80),
    path,
  };
}

const asHttps = 'write it as https://host/owner/name';

function readUrl(text: string): URL {
  if (text.length > maxLength) throw refused('it is too long');
  if (/^ssh:|^[\w.-]+@[\w.-]+:/.test(text))
    throw refused(`ssh is not supported: use ${httpsOf(text) ?? 'its https address'}`);
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (!url) throw refused(asHttps);
  if (url.username || url.password)
    throw refused('leave out the user and token: tokens are kept under Settings, Git hosts');
  if (url.search || url.hash) throw refused('leave out what follows ? or #');
  return url;
}

/** The HTTPS address of an ssh address, for hosts that offer both. */
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
