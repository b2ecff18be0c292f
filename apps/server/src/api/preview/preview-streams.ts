import type { Duplex } from 'node:stream';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { AppError, ignoreError, type SessionSettings } from '@belay/protocol';
import { inTime } from '@belay/rpc';
import { EventLog } from '../../logs/event-log.js';
import { SandboxService } from '../../sandboxes/sandbox.service.js';
import type { PreviewGrant } from './preview-grants.js';
import { previewPolicy } from './preview-policy.js';

export const previewLimits = {
  /** A browser opens six connections to a host, and WebSockets in addition. */
  perSession: 64,
  inAll: 512,
  /** Bytes of one request or response, and of each direction of a WebSocket. */
  bytes: 512 * 2 ** 20,
  /** From the request for a connection to its acceptance in the sandbox. */
  openMs: 15_000,
} as const;

export interface PreviewConnection {
  grant: PreviewGrant;
  stream: Duplex;
  /** The content security policy of the page; undefined for no restriction. */
  policy: string | undefined;
}

interface Slot {
  stream?: Duplex;
  isClosed?: boolean;
}

/**
 * Connections into sandboxes: limited in number, and refused during a pause and for ports that are not the session’s
 * own.
 */
@Injectable()
export class PreviewStreams implements BeforeApplicationShutdown {
  readonly #slots = new Map<string, Set<Slot>>();
  #count = 0;
  readonly #unsubscribe: () => void;

  constructor(
    private readonly log: EventLog,
    private readonly sandboxes: SandboxService,
  ) {
    this.#unsubscribe = log.subscribeAll((session, _, { state }) => {
      if (state === 'paused') this.#close(session);
    });
  }

  /** The session’s settings. Throws if the session cannot be shown now. */
  async check(session: string): Promise<SessionSettings> {
    const { state } = await this.log.summary(session);
    if (state === 'paused')
      throw new AppError('conflict', 'The session is paused. Resume it to see its preview.');
    const settings = await this.log.settings(session);
    const { machine } = settings;
    if (machine)
      throw new AppError(
        'conflict',
        `The session runs on the machine ${machine.name}, whose ports it shares with other programs. Open the page on that machine.`,
      );
    if (!this.sandboxes.agent(session))
      throw new AppError(
        'unavailable',
        'The sandbox of this session is not running. Start it in the dashboard, and the server in it.',
      );
    return settings;
  }

  /** A connection to a port of the sandbox, which ends with the grant. */
  async open(grant: PreviewGrant): Promise<PreviewConnection> {
    const { target, ended } = grant;
    const { session, port } = target;
    const slot: Slot = {};
    const release = this.#reserve(session, slot);
    try {
      const { egress } = await this.check(session);
      const opening = this.sandboxes.agent(session)?.open('preview', { port });
      const stream = opening && (await openedInTime(opening));
      if (!stream || slot.isClosed || ended.aborted) {
        stream?.destroy();
        throw new AppError('unavailable', 'The preview has ended. Reload it.');
      }
      slot.stream = stream;
      const end = (): void => void stream.destroy();
      ended.addEventListener('abort', end);
      stream.once('close', () => {
        ended.removeEventListener('abort', end);
        release();
      });
      return { grant, stream, policy: previewPolicy(egress, grant.origin) };
    } catch (error) {
      release();
      throw error;
    }
  }

  beforeApplicationShutdown(): void {
    this.#unsubscribe();
    for (const session of this.#slots.keys()) this.#close(session);
  }

  #reserve(session: string, slot: Slot): () => void {
    const slots = this.#slots.get(session) ?? new Set();
    if (slots.size >= previewLimits.perSession || this.#count >= previewLimits.inAll)
      throw new AppError('limit_reached', tooMany);
    this.#slots.set(session, slots.add(slot));
    this.#count += 1;
    return () => {
      if (!slots.delete(slot)) return;
      this.#count -= 1;
      if (slots.size === 0) this.#slots.delete(session);
    };
  }

  #close(session: string): void {
    for (const slot of this.#slots.get(session) ?? []) {
      slot.isClosed = true;
      slot.stream?.destroy();
    }
  }
}

const tooMany = `The preview has ${previewLimits.perSession} connections open, or all previews have ${previewLimits.inAll}, which are the limits. Close some pages.`;

/** A call to a disconnected agent would wait; a connection that opens too late is closed. */
function openedInTime(opening: Promise<Duplex>): Promise<Duplex> {
  return inTime(opening, previewLimits.openMs, () => {
    opening.then((stream) => stream.destroy(), ignoreError('nobody waits for it'));
    throw new AppError('unavailable', 'The sandbox does not respond. Reload the preview.');
  });
}
