import { pipeline, type Readable } from 'node:stream';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { AppError, ignoreError, type StreamMeta } from '@belay/protocol';
import { inTime, timeLimit, untilAborted } from '@belay/rpc';
import { Config } from '../config.js';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { byteLimit } from '../storage/byte-limit.js';
import { ObjectStore } from '../storage/object-store.js';
import { StartQueue } from './start-queue.js';

/** How long the end of a session waits for its patch. */
const patchTimeoutMs = 20_000;

/** How long the shutdown of the server waits for patches. */
const closeTimeoutMs = 2_000;

interface Keeping {
  session: string;
  controller: AbortController;
  /** Never rejects. */
  ended: Promise<void>;
}

/** The results of a session: its patch and files, from its agent or as stored at its end. */
@Injectable()
export class Exports implements OnModuleDestroy {
  readonly #maxMb: number;
  readonly #keeping = new Set<Keeping>();
  #closing = false;

  constructor(
    config: Config,
    private readonly sandboxes: SandboxService,
    private readonly queue: StartQueue,
    private readonly objects: ObjectStore,
  ) {
    this.#maxMb = config.maxWorkspaceMb;
  }

  /**
   * The session’s files in one format, up to a commit of its history or the latest. Without a sandbox only the stored
   * patch is available; for other formats a sandbox is started if `wake` is set, otherwise it throws `forbidden`.
   */
  async open(
    session: string,
    meta: StreamMeta<'workspace.export'>,
    { wake }: { wake: boolean },
  ): Promise<Readable> {
    await this.queue.untilHalted(session);
    if (this.sandboxes.agent(session)) return this.#fromAgent(session, meta);
    if (meta.format === 'patch' && !meta.commit && !meta.from) {
      const kept = await this.objects.open(patchOf(session));
      if (kept) return kept.content;
    }
    if (!wake) throw new AppError('forbidden', asleep);
    await this.queue.wake(session);
    return this.#fromAgent(session, meta);
  }

  /**
   * Waits for patches that are being written before the agents’ connections close, so that none is written afterwards.
   */
  async onModuleDestroy(): Promise<void> {
    this.#closing = true;
    const all = [...this.#keeping];
    await inTime(settled(all), closeTimeoutMs, () => this.#abort(all));
  }

  /** Stores the patch of a session that ends, for use after its sandbox is removed; not once the server ends. */
  async keepPatch(session: string): Promise<void> {
    if (this.#closing || !this.sandboxes.agent(session)) return;
    const controller = new AbortController();
    const signal = timeLimit(patchTimeoutMs, controller.signal);
    const kept = this.#keepPatch(session, signal);
    const one = { session, controller, ended: kept.catch(ignoreError('the caller gets it')) };
    this.#keeping.add(one);
    try {
      await kept;
    } finally {
      this.#keeping.delete(one);
    }
  }

  async remove(session: string): Promise<void> {
    await this.#abort([...this.#keeping].filter((one) => one.session === session));
    await this.objects.remove(patchOf(session));
  }

  async #keepPatch(session: string, signal: AbortSignal): Promise<void> {
    const opening = this.#fromAgent(session, { format: 'patch' });
    const stream = await untilAborted(signal, opening).catch((error: unknown) => {
      const refused = ignoreError('the patch is not wanted any more');
      void opening.then((late) => late.destroy(), refused);
      throw error;
    });
    await this.objects.put(patchOf(session), stream, { signal });
  }

  async #abort(some: Keeping[]): Promise<void> {
    for (const { controller } of some) controller.abort();
    await settled(some);
  }

  async #fromAgent(session: string, meta: StreamMeta<'workspace.export'>): Promise<Readable> {
    const link = this.sandboxes.agent(session);
    if (!link) {
      throw new AppError(
        'unavailable',
        'The sandbox is gone. Restart the session to read its files.',
      );
    }
    const stream = await link.open('workspace.export', meta);
    stream.end();
    return meta.format === 'patch' ? this.#limited(stream) : stream;
  }

  /** Limits the patch, which is stored on disk and held in memory by whoever applies it. */
  #limited(patch: Readable): Readable {
    const limit = byteLimit(this.#maxMb * 1024 * 1024, () => {
      const message = `The patch is larger than ${this.#maxMb} MiB. Export the files instead, or raise BELAY_MAX_WORKSPACE_MB.`;
      return new AppError('too_large', message);
    });
    return pipeline(patch, limit, ignoreError('the reader of the patch gets it'));
  }
}

function patchOf(session: string): string {
  if (!/^[\w-]+$/.test(session)) throw new AppError('not_found', 'There is no such session.');
  return `patches/${session}.patch`;
}

const settled = (some: Keeping[]): Promise<unknown> => Promise.all(some.map(({ ended }) => ended));

const asleep =
  'The sandbox of this session has ended, and only the user may start it again to read its files.';
