import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import type { PrivateRepository } from '@belay/host';
import { byteLimit } from '../storage/byte-limit.js';
import { endedBy } from './ended-by.js';
import { pktFlush, pktLine, PktLines } from './pkt-lines.js';
import { noObject, serverSays, SmartHttp, type GitRemote } from './smart-http.js';

export interface Push {
  repository: PrivateRepository;
  commit: string;
  branch: string;
  /** The current commit of the branch; undefined for a new branch. */
  before: string | undefined;
  /** A commit that the server has, the parent of the new one. */
  parent: string;
  maxBytes: number;
  signal: AbortSignal;
}

/**
 * Pushes one commit to a branch. The server refuses it when the branch is no longer at `before`: nothing is forced.
 */
@Injectable()
export class RepositoryPusher {
  constructor(private readonly smart: SmartHttp) {}

  /** Rejects with one sentence; with `conflict` when the branch moved, in which case nothing was changed. */
  async push(given: GitRemote, push: Push): Promise<void> {
    const { branch, before, commit, signal, repository } = push;
    const { refs, capabilities, remote } = await this.smart.refs(given, 'git-receive-pack', signal);
    const name = `refs/heads/${branch}`;
    if (refs.get(name) !== before) throw moved(branch);
    if (!capabilities.has('report-status'))
      throw new AppError('unavailable', 'The git server does not report whether a push succeeds.');
    const file = join(repository.folder, 'outgoing.pack');
    try {
      const bytes = await writePack(file, push);
      const used = ['report-status', 'side-band-64k'].filter((one) => capabilities.has(one));
      const command = Buffer.concat([
        pktLine(`${before ?? noObject} ${commit} ${name}\0 ${used.join(' ')} agent=belay`),
        pktFlush,
      ]);
      const answer = await this.smart.post(remote, 'git-receive-pack', {
        body: Readable.from(bodyOf(command, file), { objectMode: false }),
        bytes: command.length + bytes,
        signal,
      });
      try {
        const isBanded = capabilities.has('side-band-64k');
        await readReport(new PktLines(answer), { name, branch, isBanded });
      } catch (error) {
        if (signal.aborted) throw endedBy(signal);
        if (error instanceof AppError) throw error;
        throw new AppError(
          'unavailable',
          `${remote.address.host} did not report whether the push succeeded. Check the branch ${branch} there.`,
        );
      } finally {
        answer.destroy();
      }
    } finally {
      await rm(file, { force: true });
    }
  }
}

async function* bodyOf(command: Buffer, file: string): AsyncGenerator<Buffer> {
  yield command;
  yield* createReadStream(file, { highWaterMark: 1 << 18 }) as AsyncIterable<Buffer>;
}

async function writePack(
  file: string,
  { repository, commit, parent, maxBytes, signal }: Push,
): Promise<number> {
  const args = ['pack-objects', '--revs', '--stdout', '--quiet', '--delta-base-offset'];
  const child = repository.start(args);
  const stop = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', stop);
  child.stderr.resume();
  child.stdin.on('error', stop);
  child.stdin.end(`${commit}\n^${parent}\n`);
  const limit = byteLimit(maxBytes, () => {
    const mebibytes = Math.floor(maxBytes / 2 ** 20);
    return new AppError('too_large', `The change is larger than ${mebibytes} MiB. Publish less.`);
  });
  try {
    const ended = once(child, 'close') as Promise<[code: number | null]>;
    await pipeline(child.stdout, limit, createWriteStream(file, { mode: 0o600 }));
    const [code] = await ended;
    if (signal.aborted) throw endedBy(signal);
    if (code !== 0) throw new AppError('internal', 'Git could not pack the commit.');
    return (await stat(file)).size;
  } finally {
    stop();
    signal.removeEventListener('abort', stop);
  }
}

async function readReport(
  outer: PktLines,
  { name, branch, isBanded }: { name: string; branch: string; isBanded: boolean },
): Promise<void> {
  let remarks = '';
  const bands = async function* (): AsyncGenerator<Buffer> {
    for (let line = await outer.next(); line && line !== 'flush'; line = await outer.next()) {
      if (line[0] === 1) yield line.subarray(1);
      else if (line[0] === 2) remarks = (remarks + line.toString('utf8', 1)).slice(-2_000);
      else throw new AppError('rejected', serverSays(line.toString('utf8', 1)));
    }
  };
  const lines = isBanded ? new PktLines(bands()) : outer;
  const report: string[] = [];
  for (let line = await lines.next(); line && line !== 'flush'; line = await lines.next()) {
    report.push(line.toString('utf8').trimEnd());
    if (report.length > 100) break;
  }
  if (report.includes(`ok ${name}`) && report.includes('unpack ok')) return;
  const [, why = ''] = report.map((line) => /^ng \S+ (.*)$/.exec(line)).find(Boolean) ?? [];
  if (
    /fetch first|non-fast-forward|failed to update ref|cannot lock ref|reference already exists/.test(
      why,
    )
  )
    throw moved(branch);
  const unpack = report.find((line) => line.startsWith('unpack ') && line !== 'unpack ok');
  // Hooks print their reasons.
  const words = /hook declined/.test(why) && remarks.trim() !== '' ? remarks : why || unpack;
  throw new AppError('rejected', `The push was refused. ${serverSays(words || 'no reason')}`);
}

const moved = (branch: string): AppError =>
  new AppError(
    'conflict',
    `The branch ${branch} has changed on the server meanwhile. Prepare the change again.`,
  );
