import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { AppError, visibleText } from '@belay/protocol';
import { byteLimit } from '../storage/byte-limit.js';
import { endedBy } from './ended-by.js';
import { GitHttp, type GitResponse } from './git-http.js';
import { notGit, PktLines } from './pkt-lines.js';
import { repositoryAddress, type RepositoryAddress } from './repository-address.js';

/** A repository of a git server, and with what right it is called. */
export interface GitRemote {
  readonly address: RepositoryAddress;
  readonly credential?: { readonly user: string; readonly token: string } | undefined;
  /** The admin said that its host may be in a private network. */
  readonly isTrusted: boolean;
}

export type GitService = 'git-upload-pack' | 'git-receive-pack';

/** What a repository has: heads and tags by their full names. */
export interface AdvertisedRefs {
  readonly refs: ReadonlyMap<string, string>;
  readonly capabilities: ReadonlySet<string>;
  /** The default branch: as the server says it, else one that is where HEAD is. */
  readonly head: string | undefined;
  /** With the address that redirects led to. */
  readonly remote: GitRemote;
}

const maxAdvertisedBytes = 64 * 2 ** 20;
const maxRefs = 200_000;
const maxRedirects = 3;
export const noObject = '0'.repeat(40);

/** Git’s smart HTTP protocol, version 0: the server speaks it itself, so that no git process has a network. */
@Injectable()
export class SmartHttp {
  constructor(private readonly http: GitHttp) {}

  /**
   * What a repository has. Redirects are followed within its origin; `remote` of the result has the address they led
   * to. Throws one sentence: unauthorized, forbidden, not_found, invalid_input, unavailable, timeout.
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

  /** The answer to a request of the service, to be read to its end or destroyed. */
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
      // The address may be so only where the admin said it: `GitHosts`.
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

/** Only within the origin: a token is for one host, and so is what was checked of its address. */
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
  // Some servers speak the smart protocol to git alone.
  'user-agent': 'git/2.39.5 (belay)',
  ...(credential && {
    authorization: `Basic ${Buffer.from(`${credential.user}:${credential.token}`).toString('base64')}`,
  }),
});

/** Throws what a status means, with nothing of the body: it is whatever the other side wrote. */
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

/** The line after the name of the service, which not every server sends. */
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

/** What the other side wrote, on one line and short. */
export const serverSays = (text: string): string =>
  `The git server says: “${visibleText(text).replaceAll(/\s+/g, ' ').trim().slice(0, 200)}”.`;
