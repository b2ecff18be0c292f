import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, type Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  AppError,
  errorFrom,
  ignoreError,
  type CopyHead,
  type CopyKind,
  type serverCalls,
  type StreamMeta,
} from '@belay/protocol';
import { inTime, whileTransferring } from '@belay/rpc';
import { Mutex } from 'async-mutex';
import type { z } from 'zod';
import { isThere } from '../permissions.js';
import type { Git } from './git.js';
import type { OwnCommits } from './own-commits.js';
import type { Recorder } from './recorder.js';
import { baseRef } from './repository.js';
import type { RepositoryCopy } from './repository-copy.js';
import { emptyTree } from './write-commit.js';

type Stored = z.output<(typeof serverCalls)['copies.stored']['output']>;

/** The server’s end of the copies. */
export interface CopyStore {
  /** Which parts it has. */
  stored(): Promise<Stored>;
  /** Opens a part. The other half ends once it is stored. */
  open(part: StreamMeta<'copies.store'>): Promise<Duplex>;
}

export interface CopySenderOptions {
  git: Git;
  recorder: Recorder;
  own: OwnCommits;
  repository: RepositoryCopy;
  server: CopyStore;
  /** Reports in the log that something is not copied. */
  note(message: string): Promise<void>;
}

interface Part {
  kind: CopyKind;
  after: number;
  commit: string;
  head: CopyHead;
  content(): Readable;
  /** Called once it is stored as this part. */
  done?(n: number): void;
}

/** From a step to its copy, which then also has the steps meanwhile. */
const delayMs = 2_000;
const retryMs = 10_000;
const mostLeftOut = 20;

/**
 * Sends copies of the steps and of the workspace’s own `.git` to the server, in the background: a step does not wait for
 * its copy. Each part has what is new since the last one; a whole copy is sent when the server has none to build on, or
 * wants one in the place of many parts.
 */
export class CopySender {
  readonly #options: CopySenderOptions;
  readonly #mutex = new Mutex();
  readonly #tooLarge = new Set<CopyKind>();
  /** What the server has; undefined before the first copy, and after a failure. */
  #stored: Stored | undefined;
  /** The last commit that was sent; undefined if the history may not have it any more. */
  #sent: string | undefined;
  /** The files that the last part says are in no copy. */
  #lacking = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(options: CopySenderOptions) {
    this.#options = options;
  }

  /** There may be something new. */
  changed(afterMs = delayMs): void {
    this.#timer ??= setTimeout(() => {
      // Also when the server keeps no more of it, which the log says.
      void this.flush().catch((error: unknown) => {
        if (errorFrom(error).code !== 'too_large') this.changed(retryMs);
      });
    }, afterMs).unref();
  }

  /** Resolves when everything recorded so far is stored. Rejects if it is too large for the server. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#mutex.runExclusive(async () => {
      try {
        await this.#copy((this.#stored ??= await this.#options.server.stored()));
      } catch (error) {
        this.#stored = this.#sent = undefined;
        throw error;
      }
    });
    if (this.#options.repository.isIncomplete) this.changed();
    if (this.#tooLarge.has('steps')) throw tooLarge('steps');
  }

  /** Copies what is left, as far as there is time, and stops. Never rejects. */
  async close(timeoutMs: number): Promise<void> {
    const flushed = this.flush().catch(ignoreError('the files stay in the sandbox'));
    await inTime(flushed, timeoutMs, () => undefined);
    clearTimeout(this.#timer);
    this.#options.repository.save();
  }

  async #copy(stored: Stored): Promise<void> {
    if (!stored.wanted) return;
    // A sandbox that is lost before the first `.git` is stored must not be restored without it.
    if (stored.repository === 0) await this.#copyRepository(stored);
    await this.#copySteps(stored);
    await this.#copyRepository(stored);
  }

  async #copySteps(stored: Stored): Promise<void> {
    const last = await this.#options.recorder.last();
    const without = this.#without();
    const isSame = last?.commit === stored.commit && this.#lacking === without.join('\0');
    if (!last || isSame || this.#tooLarge.has('steps')) return;
    // A folder that was always empty needs no copy.
    if (stored.steps === 0 && last.tree === emptyTree) return;
    const { commit } = last;
    if (!(await this.#sendFirst(stored, this.#packs(stored, { commit, without })))) return;
    this.#sent = stored.commit = commit;
    this.#lacking = without.join('\0');
  }

  /** From the smallest to the one that needs the least space: what is new, all steps, and the last one alone. */
  async *#packs(
    stored: Stored,
    given: { commit: string; without: string[] },
  ): AsyncGenerator<Part> {
    const { git, own } = this.#options;
    const { commit } = given;
    const part = { kind: 'steps', commit } as const;
    const pack = (how: string[], input: string) => () =>
      git.stream([...packObjects, ...how], input);
    const before = stored.commit;
    if (before !== null && (before === this.#sent || (await this.#has(before))))
      yield {
        ...part,
        after: stored.steps,
        head: given,
        content: pack(['--thin', '--window=3'], `${commit}\n^${before}\n`),
      };
    const base = (await git.run(['rev-parse', '--verify', baseRef])).trim();
    const cut = join(git.places.folder, 'shallow');
    const shallow = isThere(cut) ? readFileSync(cut, 'latin1') : '';
    const whole = { ...given, ownStart: own.start };
    yield {
      ...part,
      after: 0,
      head: { ...whole, base, shallow },
      content: pack(['--window=0'], `${commit}\n${base}\n`),
    };
    yield {
      ...part,
      after: 0,
      head: { ...whole, base: commit, shallow: `${commit}\n` },
      content: pack(['--window=0'], `--shallow ${commit}\n${commit}\n`),
    };
  }

  async #copyRepository(stored: Stored): Promise<void> {
    const commit = await this.#options.recorder.head();
    if (commit === null || this.#tooLarge.has('repository')) return;
    try {
      await this.#sendFirst(stored, this.#archives(stored, commit));
    } catch (error) {
      if (errorFrom(error).code !== 'too_large') throw error;
      await this.#giveUp('repository');
    }
  }

  /** What is new in `.git`, then all of it; nothing without changes. */
  async *#archives(stored: Stored, commit: string): AsyncGenerator<Part> {
    for (const before of [stored.repository, 0]) {
      const changes = await this.#options.repository.changes(before);
      if (!changes) return;
      const { whole, removed, tar, stored: done } = changes;
      const after = whole ? 0 : before;
      yield { kind: 'repository', after, commit, head: { commit, removed }, content: tar, done };
    }
  }

  /** Sends the first of these parts that the server has space for; false if there is none. */
  async #sendFirst(stored: Stored, parts: AsyncIterable<Part>): Promise<boolean> {
    let refused: Part | undefined;
    for await (const part of parts) {
      try {
        await this.#send(stored, part);
        return true;
      } catch (thrown) {
        if (errorFrom(thrown).code !== 'limit_reached') throw thrown;
        refused = part;
      }
    }
    if (refused) await this.#giveUp(refused.kind);
    return false;
  }

  async #send(stored: Stored, { kind, after, commit, head, content, done }: Part): Promise<void> {
    const n = stored.next;
    const stream = await this.#options.server.open({ kind, n, after, commit });
    const isStored = once(stream.resume(), 'end');
    const bytes = content();
    try {
      await whileTransferring(() =>
        Promise.all([pipeline(Readable.from(withHead(head, bytes)), stream), isStored]),
      );
    } finally {
      bytes.destroy();
      stream.destroy();
    }
    stored.next = n + 1;
    stored[kind] = n;
    done?.(n);
  }

  async #giveUp(kind: CopyKind): Promise<void> {
    this.#tooLarge.add(kind);
    await this.#options.note(tooLarge(kind).message);
  }

  async #has(commit: string): Promise<boolean> {
    const { code } = await this.#options.git.output(['cat-file', '-e', commit], { outcome: 1 });
    return code === 0;
  }

  /** The files that are in no copy. */
  #without(): string[] {
    const large = [...this.#options.recorder.leftOut].slice(0, mostLeftOut - 1);
    return this.#tooLarge.has('repository') ? ['.git', ...large] : large;
  }
}

const packObjects = ['pack-objects', '--revs', '--stdout', '-q', '--delta-base-offset'];

async function* withHead(head: CopyHead, content: Readable): AsyncGenerator<Buffer> {
  const json = Buffer.from(JSON.stringify(head));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(json.length);
  yield Buffer.concat([size, json]);
  for await (const chunk of content) yield chunk as Buffer;
}

const tooLarge = (kind: CopyKind): AppError =>
  new AppError(
    'too_large',
    kind === 'steps'
      ? 'Copies of the files end here, because they are too large for the server (BELAY_COPY_MB): later steps are in this sandbox alone'
      : 'Copies of .git end here, because it is too large for the server (BELAY_COPY_MB): later commits in it are in this sandbox alone',
  );
