import { StringDecoder } from 'node:string_decoder';
import { terminalName, AppError } from '@belay/protocol';
import { z } from 'zod';
import type { Live } from '../../logs/live.js';
import type { TerminalLog } from '../../logs/terminal-log.js';
import type { EventFeed } from '../../sessions/feed/event-feed.js';
import { eventMessage, type SentMessage } from './socket-messages.js';

export const watchRequest = z.object({
  session: z.string().min(1).max(200),
  after: z.int().nonnegative().default(0).describe('The `seq` of the last event you have.'),
  terminals: z.boolean().default(false).describe('Also what terminals print, as it comes.'),
  deltas: z.boolean().default(false).describe('Also replies of the model while they are written.'),
});
export type WatchRequest = z.output<typeof watchRequest>;

const maxWatched = 50;
const piece = 64 * 1024;
/** A client further behind than this is skipped forward; the middle is there by REST. */
const maxBehind = 2 ** 20;

export interface WatchSources {
  feed: EventFeed;
  terminals: TerminalLog;
  live: Live;
}

/** The sessions that one socket follows. A new watch of a session replaces the one before. */
export class SocketWatches {
  readonly #watched = new Map<string, AbortController>();

  constructor(
    private readonly sources: WatchSources,
    private readonly send: (message: SentMessage) => Promise<void>,
  ) {}

  add(
    request: WatchRequest,
    { isOwn, failed }: { isOwn: (call: string) => boolean; failed: (error: unknown) => void },
  ): void {
    const { session } = request;
    this.remove(session);
    if (this.#watched.size >= maxWatched) {
      throw new AppError('limit_reached', `At most ${maxWatched} sessions can be watched at once.`);
    }
    const ending = new AbortController();
    this.#watched.set(session, ending);
    const { signal } = ending;
    const end = (error: unknown): void => {
      if (!signal.aborted) failed(error);
      ending.abort();
    };
    this.#sendEvents(request, isOwn, signal).catch(end);
    if (request.terminals) this.#sendTerminals(session, signal).catch(end);
    if (request.deltas) this.#sendDeltas(session, signal);
  }

  remove(session: string): void {
    this.#watched.get(session)?.abort();
    this.#watched.delete(session);
  }

  close(): void {
    for (const session of this.#watched.keys()) this.remove(session);
  }

  async #sendEvents(
    { session, after }: WatchRequest,
    isOwn: (call: string) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    for await (const events of this.sources.feed.follow(session, { after }, signal)) {
      for (const event of events) {
        if (signal.aborted) return;
        const isReplied = event.action === 'result' && isOwn(event.id ?? '');
        if (!isReplied) await this.send(eventMessage(session, event));
      }
    }
  }

  #sendDeltas(session: string, signal: AbortSignal): void {
    let sending = false;
    const show = (delta: { session: string; kind: string; text: string }): void => {
      // What a slow reader misses of it, the `say` event has.
      if (delta.session !== session || sending) return;
      sending = true;
      const args = { kind: delta.kind, text: delta.text };
      void this.send({ action: 'delta', session, args, message: '' }).then(() => (sending = false));
    };
    this.sources.live.on('delta', show);
    signal.addEventListener('abort', () => this.sources.live.off('delta', show), { once: true });
  }

  /** Raw sequences of the terminals from now on, in order for each. */
  async #sendTerminals(session: string, signal: AbortSignal): Promise<void> {
    const { terminals } = this.sources;
    const sent = new Map<string, { at: number; decoder: StringDecoder }>();
    const of = (terminal: string, at: number) => {
      const known = sent.get(terminal) ?? { at, decoder: new StringDecoder('utf8') };
      sent.set(terminal, known);
      return known;
    };
    for (const { terminal, size } of await terminals.list(session)) of(terminal, size);
    let changed = Promise.withResolvers<void>();
    const unsubscribe = terminals.subscribe(session, (terminal, offset) => {
      if (terminalName.safeParse(terminal).success) of(terminal, offset);
      changed.resolve();
    });
    signal.addEventListener('abort', () => changed.resolve(), { once: true });
    try {
      while (!signal.aborted) {
        changed = Promise.withResolvers<void>();
        let any = false;
        for (const [terminal, position] of sent) {
          const size = await terminals.size(session, terminal);
          if (size - position.at > maxBehind) position.at = size - piece;
          if (size <= position.at || signal.aborted) continue;
          const bytes = await terminals.read(session, terminal, position.at, position.at + piece);
          const args = { terminal, offset: position.at, content: position.decoder.write(bytes) };
          position.at += bytes.length;
          any = true;
          await this.send({ action: 'terminal', session, args, message: '' });
        }
        if (!any && !signal.aborted) await changed.promise;
      }
    } finally {
      unsubscribe();
    }
  }
}
