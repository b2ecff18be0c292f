import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { AppError, type serverCalls, type StreamMeta } from '@belay/protocol';
import type { RpcStream, Servers } from '@belay/rpc';
import { BlobStore } from '../../logs/blob-store.js';
import { EventLog } from '../../logs/event-log.js';
import { TransientNotices } from '../../logs/transient-notices.js';
import { StepCopies } from '../../logs/step-copies.js';
import { TerminalLog } from '../../logs/terminal-log.js';
import { lease } from '../../storage/lease.js';
import type { SessionOf } from './connected-sandbox.js';

type StorageHandlers = Pick<
  Servers<typeof serverCalls>,
  | 'events.append'
  | 'messages.deliver'
  | 'blobs.put'
  | 'blobs.get'
  | 'terminal.stored'
  | 'copies.stored'
  | 'browser.frame'
  | 'reply.delta'
>;

/** Stores the agent’s events, terminal output and blobs. Acknowledged means stored. */
@Injectable()
export class StorageCalls {
  constructor(
    private readonly log: EventLog,
    private readonly terminals: TerminalLog,
    private readonly blobs: BlobStore,
    private readonly live: TransientNotices,
    private readonly copies: StepCopies,
  ) {}

  handlers(session: SessionOf): StorageHandlers {
    return {
      'events.append': async ({ session: claimed, epoch, events }) => {
        if (claimed !== (await session()))
          throw new AppError('forbidden', 'The agent may only write to its own session.');
        return { seqs: await this.log.appendFromAgent(claimed, epoch, events) };
      },
      'messages.deliver': async ({ epoch, messages, through }) => {
        await this.log.messages.deliver(await session(), epoch, { messages, through });
        return {};
      },
      'blobs.put': async ({ type, bytes }) => ({
        blob: await this.blobs.putOf(await session(), bytes, type),
      }),
      'blobs.get': async ({ blob }) => {
        const { type, bytes } = await this.blobs.getOf(await session(), blob);
        return { type, bytes: bytes as Uint8Array<ArrayBuffer> };
      },
      'terminal.stored': async ({ terminal }) => ({
        offset: await this.terminals.size(await session(), terminal),
      }),
      'copies.stored': async () => this.copies.stored(await session()),
      'reply.delta': async ({ kind, text }) => {
        this.live.delta(await session(), kind, text);
        return {};
      },
      'browser.frame': async (frame) => {
        this.live.frame(await session(), frame);
        return {};
      },
    };
  }

  /** Stores a part of the copies of a session’s steps; this half of the stream ends once it is stored. */
  takeCopy(session: string, part: StreamMeta<'copies.store'>, stream: RpcStream): void {
    this.copies.store(session, part, Readable.from(bytesOf(stream))).then(
      () => stream.end(),
      (error: Error) => stream.destroy(error),
    );
  }

  /** Stores terminal output; bytes are acknowledged when they are stored. */
  async takeTerminal(
    from: { session: string; terminal: string; offset: number },
    stream: RpcStream,
  ): Promise<void> {
    const { session, terminal } = from;
    const size = await this.terminals.size(session, terminal);
    const { agent } = await this.log.settings(session);
    if (from.offset > size) {
      throw new AppError('conflict', `The terminal continues at ${size}, not at ${from.offset}.`);
    }
    // What its user sees while signing in may be a credential.
    void this.#storeTerminal(from, stream, { isKept: agent?.login === undefined });
  }

  async #storeTerminal(
    from: { session: string; terminal: string; offset: number },
    stream: RpcStream,
    { isKept }: { isKept: boolean },
  ): Promise<void> {
    const { session, terminal, offset } = from;
    let at = offset;
    try {
      for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
        const bytes = chunk as Buffer;
        lease.assertHeld();
        if (isKept) await this.terminals.append(session, terminal, at, bytes);
        else await this.terminals.show(session, terminal, at, bytes);
        at += bytes.byteLength;
      }
      stream.end();
    } catch (error) {
      // The agent receives the cause, and opens the stream again from what is stored.
      stream.destroy(error as Error);
    }
  }
}

/** Whoever stops reading decides how the stream ends. */
async function* bytesOf(stream: RpcStream): AsyncGenerator<Buffer> {
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
}
