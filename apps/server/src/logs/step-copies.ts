import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { AppError, copyKind, NewestMap, type CopyKind, type StreamMeta } from '@belay/protocol';
import { Config } from '../config.js';
import { byteLimit } from '../storage/byte-limit.js';
import { storageError } from '../storage/database.js';
import { FreeSpace } from '../storage/free-space.js';
import { KeyedMutex } from '../storage/keyed-mutex.js';
import { ObjectStore, type StoredObject } from '../storage/object-store.js';

/** A stored part, by its place in the session’s copies. */
export interface StoredPart {
  kind: CopyKind;
  n: number;
  /** Whether it builds on no other part. */
  whole: boolean;
  commit: string;
  bytes: number;
  key: string;
}

/** The objects of a session. */
interface Stored {
  /** Those that belong together, the oldest first. */
  parts: StoredPart[];
  /** The number of the next one. */
  next: number;
  keys: readonly string[];
}

/** Above this number of one kind, a whole copy is wanted. */
const maxParts = 200;
/** The sessions whose objects are known without listing them. */
const mostKnown = 1_000;
const folder = 'copies';

/**
 * Copies of the steps of sessions and of their workspaces’ `.git`, in parts as their agents send them, an object each. The
 * server never reads what is in a part: it comes from a sandbox, and only the session’s next sandbox unpacks it. The
 * names of the objects say which parts belong together, so that a whole copy takes the place of earlier parts at once.
 */
@Injectable()
export class StepCopies {
  readonly #maxBytes: number;
  readonly #space: FreeSpace;
  /** One operation at a time on the copies of a session. */
  readonly #mutexes = new KeyedMutex();
  /** What `store` needs: listing takes a request for each part otherwise. Another server may know better: see `stored`. */
  readonly #known = new NewestMap<string, Stored>(mostKnown);

  constructor(
    config: Config,
    private readonly objects: ObjectStore,
  ) {
    this.#maxBytes = config.copyBytes;
    this.#space = new FreeSpace(config);
  }

  /** Whether there are copies at all: `BELAY_COPY_MB` may be 0. */
  get isOn(): boolean {
    return this.#maxBytes > 0;
  }

  /** What an agent needs to know to continue a session’s copies. */
  stored(session: string) {
    return this.#mutexes.run(session, async () => {
      const { parts, next } = await this.#list(session);
      const last = (kind: CopyKind) => parts.findLast((part) => part.kind === kind);
      return {
        next,
        steps: last('steps')?.n ?? 0,
        repository: last('repository')?.n ?? 0,
        commit: last('steps')?.commit ?? null,
        wanted: this.isOn,
      };
    });
  }

  /**
   * Resolves when the part is stored. Throws `conflict` for a number that is not the next one and for a second part at
   * the same time, `limit_reached` beyond the space of the session, `disk_full`; then nothing has changed.
   */
  async store(session: string, part: StreamMeta<'copies.store'>, bytes: Readable): Promise<void> {
    if (this.#mutexes.isBusy(session))
      throw new AppError('conflict', 'Another part of this session’s copies is being stored.');
    await this.#mutexes.run(session, async () => {
      const { parts, next, keys } = this.#known.get(session) ?? (await this.#list(session));
      // Listed again after a failure.
      this.#known.delete(session);
      const { kind, n, after, commit } = part;
      const isWhole = after === 0;
      const before = parts.filter((one) => one.kind === kind);
      const isNext = n === next && (isWhole || after === before.at(-1)?.n);
      if (!isNext) throw new AppError('conflict', `The next part of the copies is ${next}.`);
      if (!isWhole && before.length >= maxParts) throw full();
      const others = parts.filter((one) => !isWhole || one.kind !== kind);
      const used = others.reduce((sum, one) => sum + one.bytes, 0);
      const name = `${n}.${kind}.${isWhole ? 'whole' : 'more'}.${commit}`;
      const stored = {
        kind,
        n,
        whole: isWhole,
        commit,
        bytes: 0,
        key: `${folderOf(session)}/${name}`,
      };
      const through = byteLimit(this.#maxBytes - used, full, {
        space: this.#space,
        passed: (count) => (stored.bytes = count),
      });
      await this.objects.put(stored.key, bytes, { through }).catch((error: unknown) => {
        throw error instanceof AppError ? error : storageError(error);
      });
      const left = [...others, stored];
      await this.#removeOthers(keys, left);
      this.#known.set(session, { parts: left, next: n + 1, keys: left.map(({ key }) => key) });
    });
  }

  /** The parts that a new sandbox needs, the oldest first; empty without a copy of any step. */
  list(session: string): Promise<StoredPart[]> {
    return this.#mutexes.run(session, async () => {
      const { parts } = await this.#list(session);
      return parts.some(({ kind }) => kind === 'steps') ? parts : [];
    });
  }

  /** Throws `internal` for a part that is missing. */
  async open({ key, n }: StoredPart): Promise<Readable> {
    const found = await this.objects.open(key);
    if (!found) throw new AppError('internal', `The part ${n} of the copies is missing.`);
    return found.content;
  }

  async remove(session: string): Promise<void> {
    await this.#mutexes.run(session, () => {
      this.#known.delete(session);
      return this.objects.removeFolder(folderOf(session));
    });
  }

  /** Deletes the copies of all other sessions, which are gone. `sessions` lists them after the copies were listed. */
  async removeUnused(sessions: () => Promise<readonly string[]>): Promise<void> {
    const found = new Set<string>();
    for await (const { key } of this.objects.list(folder)) found.add(key.split('/')[1] ?? '');
    const used = new Set(await sessions());
    for (const session of found) if (!used.has(session)) await this.remove(session);
  }

  /** Deletes parts that a whole copy replaced, and unfinished files. */
  async #removeOthers(keys: readonly string[], parts: readonly StoredPart[]): Promise<void> {
    const needed = new Set(parts.map(({ key }) => key));
    for (const key of keys) if (!needed.has(key)) await this.objects.remove(key);
  }

  async #list(session: string): Promise<Stored> {
    const objects: StoredObject[] = [];
    for await (const object of this.objects.list(folderOf(session))) objects.push(object);
    const found = objects.map(partOf);
    const all = found.filter((part) => part !== undefined).sort((a, b) => a.n - b.n);
    const begin = (kind: CopyKind) =>
      all.findLast((part) => part.kind === kind && part.whole)?.n ?? Infinity;
    const begins = { steps: begin('steps'), repository: begin('repository') };
    const stored = {
      parts: all.filter(({ kind, n }) => n >= begins[kind]),
      next: (all.at(-1)?.n ?? 0) + 1,
      keys: objects.map(({ key }) => key),
    };
    this.#known.set(session, stored);
    return stored;
  }
}

function folderOf(session: string): string {
  if (!/^[\w-]+$/.test(session)) throw new AppError('not_found', 'There is no such session.');
  return `${folder}/${session}`;
}

const partName = /^(\d+)\.(\w+)\.(whole|more)\.([0-9a-f]+)$/;

function partOf({ key, bytes }: StoredObject): StoredPart | undefined {
  const name = key.slice(key.lastIndexOf('/') + 1);
  const [, n, named, extent, commit] = partName.exec(name) ?? [];
  const { data: kind } = copyKind.safeParse(named);
  if (commit === undefined || kind === undefined) return undefined;
  return { kind, n: Number(n), whole: extent === 'whole', commit, bytes, key };
}

const full = (): AppError =>
  new AppError(
    'limit_reached',
    'The copies of this session have reached their limit. Raise BELAY_COPY_MB to keep more.',
  );
