import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { PrivateRepository } from '@belay/host';
import { LiveServers } from '../storage/live-servers.js';
import type { BeforeLead } from '../storage/on-lead.js';
import { Config } from '../config.js';
import { FreeSpace } from '../storage/free-space.js';
import { endedBy } from './ended-by.js';
import { pktFlush, pktLine, PktLines } from './pkt-lines.js';
import { serverSays, SmartHttp, type AdvertisedRefs, type GitRemote } from './smart-http.js';

export interface WantedCommit {
  /** A branch or a tag; the default branch when neither this nor `commit` is given. */
  ref?: string | undefined;
  /** The full id of a commit or tag, which is never looked up as a name; `ref` is then the branch that it is on. */
  commit?: string | undefined;
}

/** A commit to fetch. */
export interface WantedObjects {
  readonly remote: GitRemote;
  /** The id of the commit, or of a tag that leads to it. */
  readonly object: string;
  /** Further commits to fetch with it. */
  readonly also?: readonly string[];
  readonly capabilities: ReadonlySet<string>;
  /** Refs to request when the server does not serve the commit by its id. */
  readonly tips: readonly string[];
}

/** A commit of a repository, as the server advertises it now. */
export interface FoundCommit extends WantedObjects {
  /** The branch that was requested, or is the default. */
  readonly branch: string | null;
  readonly defaultBranch: string | null;
}

export interface FetchOptions {
  /** The limit of the received pack. */
  maxBytes: number;
  /** The number of commits of history; all when omitted. */
  depth?: number | undefined;
  signal: AbortSignal;
  /** The progress as text, a few times a second at most. */
  onProgress?: ((progress: string) => void) | undefined;
}

export interface FetchedRepository {
  readonly repository: PrivateRepository;
  readonly commit: string;
  /** The id of the commit’s files. */
  readonly tree: string;
}

/** Repositories that are fetched at the same time. */
const mostAtOnce = 16;
/** Processing time of one git process; a pack of gigabytes takes minutes. */
const cpuSeconds = 1_800;
const memoryBytes = 3 * 2 ** 30;

/**
 * Fetches from git servers into bare repositories of the server. Nothing in a repository is run or checked out: the
 * pack goes to `git index-pack`, in a process with limits and without network, settings or hooks.
 */
@Injectable()
export class RepositoryFetcher implements BeforeLead {
  readonly #folder: string;
  readonly #space: FreeSpace;
  #underWay = 0;

  constructor(
    config: Config,
    private readonly smart: SmartHttp,
    private readonly servers: LiveServers,
  ) {
    this.#folder = join(config.data, 'git');
    this.#space = new FreeSpace(config);
  }

  /**
   * Removes the remains of a server that was killed, before any fetch: clones begin again afterwards. Others may fetch into
   * the same folder, while there are any.
   */
  async beforeLead(hasWorked: boolean): Promise<void> {
    if (hasWorked || (await this.servers.otherIds()).size > 0) return;
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Throws one sentence; `not_found` for an unknown ref. Whether a commit exists is known once it is fetched. */
  async find(given: GitRemote, wanted: WantedCommit, signal: AbortSignal): Promise<FoundCommit> {
    const { remote, ...advertised } = await this.smart.refs(given, 'git-upload-pack', signal);
    const { refs, capabilities, head } = advertised;
    const { object, branch } = objectOf(advertised, wanted, remote.address.url);
    return {
      remote,
      object,
      branch,
      defaultBranch: head ?? null,
      capabilities,
      tips: [...refs.values()],
    };
  }

  /** Rejects with one sentence: too_large, timeout, disk_full, …; nothing is left then. */
  async fetch(found: WantedObjects, options: FetchOptions): Promise<FetchedRepository> {
    if (this.#underWay >= mostAtOnce)
      throw new AppError(
        'limit_reached',
        `${mostAtOnce} repositories are being fetched now. Try again in a minute.`,
      );
    this.#underWay++;
    return this.#fetch(found, options).finally(() => this.#underWay--);
  }

  async #fetch(found: WantedObjects, options: FetchOptions): Promise<FetchedRepository> {
    await this.#space.require();
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const repository = await PrivateRepository.create({
      parent: this.#folder,
      limits: { memoryBytes, cpuSeconds, fileBytes: 2 * options.maxBytes + 2 ** 26 },
    });
    try {
      await this.#receive(repository, found, options);
      // One process for both ids.
      const { output } = await repository.run(['cat-file', '--batch-check=%(objectname)'], {
        input: Buffer.from(`${found.object}^{commit}\n${found.object}^{tree}\n`),
        signal: options.signal,
      });
      const [, commit, tree] = /^([0-9a-f]{40})\n([0-9a-f]{40})\n$/.exec(output.toString()) ?? [];
      if (commit === undefined || tree === undefined)
        throw new AppError('not_found', `The repository has no commit ${found.object}.`);
      return { repository, commit, tree };
    } catch (error) {
      await repository.remove();
      throw error;
    }
  }

  async #receive(
    repository: PrivateRepository,
    found: WantedObjects,
    { maxBytes, depth, signal, onProgress }: FetchOptions,
  ): Promise<void> {
    const { body, isShallow } = requestOf(found, depth);
    const answer = await this.smart.post(found.remote, 'git-upload-pack', {
      body,
      bytes: body.length,
      signal,
    });
    const { host } = found.remote.address;
    try {
      const lines = new PktLines(answer);
      const shallow = isShallow ? await readShallow(lines) : [];
      if (shallow.length > 0)
        await writeFile(join(repository.folder, 'shallow'), `${shallow.join('\n')}\n`);
      await indexPack(repository, packOf(lines), { maxBytes, signal, onProgress });
    } catch (error) {
      if (signal.aborted) throw endedBy(signal);
      throw error instanceof AppError
        ? error
        : new AppError('unavailable', `${host} interrupted the transfer. Try again.`);
    } finally {
      answer.destroy();
    }
  }
}

/** Found among the refs that the server advertises, so that no name becomes an argument of git. */
function objectOf(
  { refs, head }: Pick<AdvertisedRefs, 'refs' | 'head'>,
  { ref, commit }: WantedCommit,
  url: string,
): { object: string; branch: string | null } {
  if (refs.size === 0) throw new AppError('not_found', `${url} is empty: it has no commit yet.`);
  if (commit !== undefined) {
    if (ref === undefined || refs.has(`refs/heads/${ref}`))
      return { object: commit, branch: ref ?? null };
    throw unknownRef(refs, { kind: 'branch', ref }, url);
  }
  if (ref === undefined) {
    const tip = refs.get(`refs/heads/${head}`);
    if (tip !== undefined && head !== undefined) return { object: tip, branch: head };
    throw new AppError('not_found', `${url} has no default branch: name one.`);
  }
  const branch = refs.get(`refs/heads/${ref}`);
  if (branch !== undefined) return { object: branch, branch: ref };
  const tag = refs.get(`refs/tags/${ref}`);
  if (tag !== undefined) return { object: tag, branch: null };
  throw unknownRef(refs, { kind: 'branch or tag', ref }, url);
}

function unknownRef(
  refs: AdvertisedRefs['refs'],
  { kind, ref }: { kind: string; ref: string },
  url: string,
): AppError {
  const names = [...refs.keys()].filter((name) => name.startsWith('refs/heads/')).slice(0, 5);
  const has = names.map((name) => name.slice(11)).join(', ');
  const remedy = /^[0-9a-f]{40}$/.test(ref) ? ' The id of a commit is given as `commit`.' : '';
  return new AppError('not_found', `${url} has no ${kind} ${ref}. It has: ${has}.${remedy}`);
}

/** A commit that is not served by its id may be below any advertised tip, so all tips are requested, with history. */
function requestOf(
  { object, also = [], tips, capabilities }: WantedObjects,
  depth?: number,
): { body: Buffer; isShallow: boolean } {
  if (!capabilities.has('side-band-64k'))
    throw new AppError('unavailable', 'The git server is too old: it has no side-band-64k.');
  const objects = [object, ...also];
  const byId =
    objects.every((one) => tips.includes(one)) ||
    ['allow-reachable-sha1-in-want', 'allow-any-sha1-in-want'].some((one) => capabilities.has(one));
  const isShallow = byId && depth !== undefined && capabilities.has('shallow');
  const wanted = [...new Set(byId ? objects : tips)];
  const used = ['side-band-64k', 'ofs-delta'].filter((one) => capabilities.has(one));
  const body = Buffer.concat([
    ...wanted.map((id, at) =>
      pktLine(`want ${id}${at === 0 ? ` ${used.join(' ')} agent=belay` : ''}\n`),
    ),
    ...(isShallow ? [pktLine(`deepen ${depth}\n`)] : []),
    pktFlush,
    pktLine('done\n'),
  ]);
  return { body, isShallow };
}

async function readShallow(lines: PktLines): Promise<string[]> {
  const shallow: string[] = [];
  for (let line = await lines.line(); line !== 'flush'; line = await lines.line()) {
    const [, id] = /^shallow ([0-9a-f]{40})\n?$/.exec(line.toString('latin1')) ?? [];
    if (id === undefined) throw refusedBy(line);
    if (shallow.push(id) > 100_000) throw new AppError('too_large', 'The history is too wide.');
  }
  return shallow;
}

/** The pack within the response; the server’s messages are dropped. */
async function* packOf(lines: PktLines): AsyncGenerator<Buffer> {
  const first = await lines.line();
  if (first === 'flush' || !/^NAK\n?$/.test(first.toString('latin1'))) throw refusedBy(first);
  for (let line = await lines.line(); line !== 'flush'; line = await lines.line()) {
    const [band] = line;
    if (band === 1) yield line.subarray(1);
    else if (band === 3) throw new AppError('unavailable', serverSays(line.toString('utf8', 1)));
    else if (band !== 2) throw refusedBy(line);
  }
}

const refusedBy = (line: Buffer | 'flush'): AppError => {
  const text = line === 'flush' ? '' : line.toString('utf8');
  if (text.startsWith('ERR ')) return new AppError('unavailable', serverSays(text.slice(4)));
  return new AppError('invalid_input', 'The git server’s answer cannot be read.');
};

async function indexPack(
  repository: PrivateRepository,
  pack: AsyncIterable<Buffer>,
  { maxBytes, signal, onProgress }: Pick<FetchOptions, 'maxBytes' | 'signal' | 'onProgress'>,
): Promise<void> {
  await mkdir(join(repository.folder, 'objects/pack'), { recursive: true });
  const child = repository.start(['index-pack', '-v', '--stdin', `--max-input-size=${maxBytes}`]);
  const stop = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', stop);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    const progress = text.match(/(?:Receiving objects|Resolving deltas): +\d+%/g)?.at(-1);
    if (progress) onProgress?.(progress.replace(/: +/, ' '));
    errors = (errors + text).slice(-4_000);
  });
  child.stdout.resume();
  const ended = once(child, 'close') as Promise<[code: number | null]>;
  const [sent, end] = await Promise.allSettled([
    pipeline(pack, child.stdin).catch((error: unknown) => {
      // If git has ended, its exit tells why. It may end before the flush after the pack is read, and Node then closes
      // its input.
      if (!(error instanceof AppError) && (isBrokenPipe(error) || hasEnded(child))) return;
      stop();
      throw error;
    }),
    ended,
  ]);
  signal.removeEventListener('abort', stop);
  if (sent.status === 'rejected') throw sent.reason;
  if (end.status === 'rejected') throw new AppError('unavailable', 'Git could not be started.');
  if (end.value[0] !== 0) throw whyNot(errors, maxBytes);
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;
const isBrokenPipe = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EPIPE';

function whyNot(errors: string, maxBytes: number): AppError {
  if (/exceeds maximum allowed size/.test(errors) || errors === '')
    return new AppError(
      'too_large',
      `The repository is larger than ${Math.floor(maxBytes / 2 ** 20)} MiB, or takes more than that to unpack. Begin with less history (depth), or raise BELAY_MAX_WORKSPACE_MB.`,
    );
  if (/No space left|quota exceeded/i.test(errors))
    return new AppError('disk_full', 'The disk is full: the repository could not be fetched.');
  return new AppError('invalid_input', 'The git server sent an invalid pack.');
}
