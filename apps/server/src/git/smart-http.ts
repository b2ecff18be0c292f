import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { AppError, visibleText } from '@belay/protocol';
import { byteLimit } from '../storage/byte-limit.js';
import { endedBy } from './ended-by.js';
import { GitHttp, type GitResponse } from './git-http.js';
import { notGit, PktLines } from './pkt-lines.js';
import { repositoryAddress, type RepositoryAddress } from './repository-address.js';

/** A repository of a git server, and the credentials for it. */
export interface GitRemote {
  readonly address: RepositoryAddress;
  readonly credential?: { readonly user: string; readonly token: string } | undefined;
  /** Whether the admin allowed its host to be in a private network. */
  readonly isTrusted: boolean;
}

export type GitService = 'git-upload-pack' | 'git-receive-pack';

/** A repository’s heads and tags, by their full names. */
export interface AdvertisedRefs {
  readonly refs: ReadonlyMap<string, string>;
  readonly capabilities: ReadonlySet<string>;
  /** The default branch: the one that the server names, otherwise one that points to HEAD’s commit. */
  readonly head: string | undefined;
  /** The remote with the address that redirects led to. */
  readonly remote: GitRemote;
}

const maxAdvertisedBytes = 64 * 2 ** 20;
const maxRefs = 200_000;
const maxRedirects = 3;
export const noObject = '0'.repeat(40);

/** Git’s smart HTTP protocol, version 0. The server implements it itself, so that git processes need no network. */
@Injectable()
export class SmartHttp {
  constructor(private readonly http: GitHttp) {}

  /**
   * The refs of a repository. Redirects are followed within its origin; `remote` in the result has the final address.
   * Throws one sentence: unauthorized, forbidden, not_found, invalid_input, unavailable, timeout.
   */
  async refs(remote: GitRemote, service: GitService, signal: AbortSignal): Promise<AdvertisedRefs> {
    const { answer, remote: found } = await this.#advertisement(remote, service, signal);
    const tooMany = () => new AppError('too_large', 'The repository has too many branches.');
    const limited = answer.body.pipe(byteLimit(maxAdvertisedBytes, tooMany));
    answer.body.once('error', (error) => limited.destroy(error));
    try {
      return { ...(await readRefs(new PktLines(limited), service)), remote: found };
    } catch (error) {
      throw signal.aborted ? endedBy(signal) : error;
    } finally {
      answer.body.destroy();
      limited.destroy();
    }
  }

  /** The response of the service, which must be read to its end or destroyed. */
  async post(
    remote: GitRemote,
    service: GitService,
    { body, bytes, signal }: { body: Uint8Array | Readable; bytes: number; signal: AbortSignal },
  ): Promise<Readable> {
    const answer = await this.http.call(new URL(`${remote.address.url}/${service}`), {
      method: 'POST',
      headers: {
        ...headersOf(remote),
        'content-type': `application/x-${service}-request`,
        'content-length': `${bytes}`,
        accept: `application/x-${service}-result`,
      },
      body,
      isTrusted: remote.isTrusted,
      // Addresses without TLS occur only if the admin allowed them: `GitHosts`.
      isPlain: remote.address.url.startsWith('http:'),
      signal,
    });
    requireSuccess(answer, remote, service);
    return answer.body;
  }

  async #advertisement(
    given: GitRemote,
    service: GitService,
    signal: AbortSignal,
  ): Promise<{ answer: GitResponse; remote: GitRemote }> {
    let remote = given;
    for (let redirects = 0; redirects <= maxRedirects; redirects++) {
      const { address, isTrusted } = remote;
      const url = new URL(`${address.url}/info/refs?service=${service}`);
      const answer = await this.http.call(url, {
        method: 'GET',
        headers: headersOf(remote),
        isTrusted,
        isPlain: address.url.startsWith('http:'),
        signal,
      });
      const { location, 'content-type': type } = answer.headers;
      if (answer.status < 300 || answer.status >= 400 || typeof location !== 'string') {
        requireSuccess(answer, remote, service);
        if (type === `application/x-${service}-advertisement`) return { answer, remote };
        answer.body.destroy();
        throw new AppError(
          'not_found',
          `${address.url} is not a repository that git can reach over HTTP. Check the address.`,
        );
      }
      answer.body.destroy();
      remote = { ...remote, address: movedTo(location, url, address) };
    }
    throw new AppError('unavailable', `${given.address.host} redirects too often.`);
  }
}

/** Redirects stay within the origin, because the token and the address checks apply to one host. */
function movedTo(location: string, from: URL, { host }: RepositoryAddress): RepositoryAddress {
  const url = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (url?.origin !== from.origin) {
    const where = url ? `to ${url.host}` : 'elsewhere';
    throw new AppError(
      'forbidden',
      `${host} redirects ${where}, which is not followed. Use the repository’s own address.`,
    );
  }
  if (!url.pathname.endsWith('/info/refs'))
    throw new AppError(
      'unauthorized',
      `${host} asks for a login: the repository is not there, or needs a token.`,
    );
  return repositoryAddress(url.origin + url.pathname.slice(0, -'/info/refs'.length));
}

const headersOf = ({ credential }: GitRemote): Record<string, string> => ({
  // Some servers offer the smart protocol only to git clients.
  'user-agent': 'git/2.39.5 (belay)',
  ...(credential && {
    authorization: `Basic ${Buffer.from(`${credential.user}:${credential.token}`).toString('base64')}`,
  }),
});

/** Throws an error for the status. The body is not used, because it is untrusted. */
function requireSuccess(answer: GitResponse, remote: GitRemote, service: GitService): void {
  const { status } = answer;
  if (status === 200) return;
  answer.body.destroy();
  const { address, credential } = remote;
  const { host } = address;
  const does = service === 'git-receive-pack' ? 'push to' : 'read';
  if (status === 401)
    throw credential
      ? new AppError(
          'unauthorized',
          `${host} refused the token for ${address.url}. Renew it under Settings, Git hosts.`,
        )
      : new AppError(
          'unauthorized',
          `There is no public repository ${address.url}. If it is private, add a token for ${host} under Settings, Git hosts.`,
        );
  if (status === 403)
    throw new AppError(
      'forbidden',
      credential
        ? `The token for ${host} may not ${does} ${address.url}. Give it that right there.`
        : `${host} does not let anyone ${does} ${address.url} without a token. Add one under Settings, Git hosts.`,
    );
  if (status === 404 || status === 410)
    throw new AppError(
      'not_found',
      credential
        ? `There is no repository ${address.url}, or the token for ${host} may not see it.`
        : `There is no repository ${address.url}. If it is private, add a token for ${host} under Settings, Git hosts.`,
    );
  if (status === 413)
    throw new AppError('too_large', `${host} does not accept a push this large. Publish less.`);
  throw new AppError('unavailable', `${host} answered ${status}. Try again later.`);
}

async function readRefs(
  lines: PktLines,
  service: GitService,
): Promise<Omit<AdvertisedRefs, 'remote'>> {
  const refs = new Map<string, string>();
  let capabilities: string[] | undefined;
  let headCommit: string | undefined;
  for (let line = await firstRef(lines, service); line !== 'flush'; line = await lines.line()) {
    const text = line.toString('utf8').replace(/\n$/, '');
    if (text.startsWith('ERR ')) throw new AppError('unavailable', serverSays(text.slice(4)));
    const [entry = '', offered = ''] = text.split('\0');
    capabilities ??= offered.split(' ');
    if (entry.startsWith('shallow ')) continue;
    const { id, name } = readRef(entry);
    if (name === 'HEAD') headCommit = id;
    if (/^refs\/(heads|tags)\//.test(name)) refs.set(name, id);
    if (refs.size > maxRefs)
      throw new AppError('too_large', 'The repository has too many branches.');
  }
  const symref = 'symref=HEAD:refs/heads/';
  const head = capabilities?.find((one) => one.startsWith(symref))?.slice(symref.length);
  return {
    refs,
    capabilities: new Set(capabilities),
    head: head ?? headOf(refs, headCommit),
  };
}

/** The line after the service’s name, which not every server sends. */
async function firstRef(lines: PktLines, service: GitService): Promise<Buffer | 'flush'> {
  const first = await lines.line();
  if (first.toString('latin1').trimEnd() !== `# service=${service}`) return first;
  if ((await lines.line()) !== 'flush') throw notGit();
  return lines.line();
}

function readRef(entry: string): { id: string; name: string } {
  const [, id, name] = /^([0-9a-f]{40}) (\S+)$/.exec(entry) ?? [];
  if (id !== undefined && name !== undefined) return { id, name };
  if (/^[0-9a-f]{64} /.test(entry))
    throw new AppError('invalid_input', 'Repositories with SHA-256 are not supported.');
  throw notGit();
}

function headOf(refs: ReadonlyMap<string, string>, commit: string | undefined): string | undefined {
  const usual = ['main', 'master'].find((name) => refs.get(`refs/heads/${name}`) === commit);
  const heads = [...refs].filter(([name]) => name.startsWith('refs/heads/'));
  return (
    commit && (usual ?? heads.find(([, id]) => id === commit)?.[0].slice('refs/heads/'.length))
  );
}

/** The other side’s text, shortened to one line. */
export const serverSays = (text: string): string =>
  `The git server says: “${visibleText(text).replaceAll(/\s+/g, ' ').trim().slice(0, 200)}”.`;
