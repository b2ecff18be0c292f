import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { AppError, errorFrom, type CopyKind } from '@belay/protocol';
import { whileTransferring } from '@belay/rpc';
import { TransientNotices } from '../../logs/transient-notices.js';
import { StepCopies, type StoredPart } from '../../logs/step-copies.js';
import type { AgentConnection } from './agent-link.js';
import type { ConnectedSandbox } from './connected-sandbox.js';

/** How long an agent may take to write the files of a step. */
const checkOutTimeoutMs = 300_000;

/** Puts the copies of a session’s steps into its new sandbox. */
@Injectable()
export class RestoredCopies {
  constructor(
    private readonly copies: StepCopies,
    private readonly live: TransientNotices,
  ) {}

  /**
   * Resolves with the step whose files the workspace has then, and what its copy lacks; undefined without a copy. A part
   * that the agent cannot unpack ends those of its kind: the parts before it count. Throws when no part can be unpacked.
   */
  async restore(
    { connection }: ConnectedSandbox,
    session: string,
  ): Promise<{ commit: string; without: string[] } | undefined> {
    const parts = await this.copies.list(session);
    if (parts.length === 0) return undefined;
    if (!connection) throw new AppError('internal', 'The agent was never connected.');
    const broken = new Map<CopyKind, AppError>();
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    let sent = 0;
    for (const part of parts) {
      if (broken.has(part.kind)) continue;
      try {
        await this.#send(connection, part);
      } catch (thrown) {
        const error = errorFrom(thrown);
        if (!unreadable.has(error.code)) throw error;
        broken.set(part.kind, error);
      }
      this.live.copied(session, (sent += part.bytes), bytes);
    }
    const signal = AbortSignal.timeout(checkOutTimeoutMs);
    const found = await connection.call('copies.checkOut', {}, { signal }).catch((error: Error) => {
      throw broken.get('steps') ?? error;
    });
    const cut = broken.get('repository');
    const without = cut ? [`the latest state of .git (${cut.message})`] : [];
    return { ...found, without: [...found.without, ...without] };
  }

  remove(session: string): Promise<void> {
    return this.copies.remove(session);
  }

  async #send(connection: AgentConnection, part: StoredPart): Promise<void> {
    const stream = await connection.open('copies.restore', { kind: part.kind });
    const unpacked = once(stream.resume(), 'end');
    try {
      await whileTransferring(async () =>
        Promise.all([pipeline(await this.copies.open(part), stream), unpacked]),
      );
    } finally {
      stream.destroy();
    }
  }
}

/** Errors of a part; others are of the sandbox. */
const unreadable: ReadonlySet<string> = new Set([
  'invalid_input',
  'forbidden',
  'too_large',
  'internal',
]);
