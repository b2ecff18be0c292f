import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import {
  AppError,
  errorFrom,
  ignoreError,
  isEvent,
  newEvent,
  elapsedText,
  type ActionOutput,
  type StartedAction,
} from '@belay/protocol';
import { z } from 'zod';
import { lease } from '../storage/lease.js';
import type { OnLead, OnWork } from '../storage/on-lead.js';
import { EventLog } from '../logs/event-log.js';
import { SessionsStore } from '../logs/sessions.store.js';
import { whileWorking } from '../logs/while-working.js';
import { SessionServers } from '../peers/session-servers.js';
import type { Document } from '../storage/document.js';
import { Documents } from '../storage/documents.js';

/** Limits of concurrent calls, so that neither one session nor all of them use every slot of `ActionRunner`. */
const mostOfSession = 4;
const mostInAll = 12;
/** The delay before a result that could not be written is tried again, in milliseconds. */
const tryAgainMs = 1_000;

const begun = z.object({ session: z.string(), id: z.string(), operation: z.string() });
type Begun = z.infer<typeof begun>;

interface BackgroundCall {
  session: string;
  id: string;
  operation: string;
  /** `signal` aborts when the session or the server ends. */
  run(signal: AbortSignal): Promise<ActionOutput>;
}

/**
 * Calls of asynchronous actions, which return at once. Each result is written to the session’s log as
 * `background-result`. Running calls are recorded, so that none is forgotten when the server is killed.
 */
@Injectable()
export class BackgroundCalls implements OnWork, OnLead, BeforeApplicationShutdown {
  readonly #logger = new Logger(BackgroundCalls.name);
  readonly #document: Document<z.ZodArray<typeof begun>>;
  /** Those whose result is not written yet. */
  readonly #running = new Map<Begun, Promise<void>>();
  /** Those that are still at work: what cannot be written must keep no other call from its place. */
  readonly #working = new Set<Begun>();
  readonly #closing = new AbortController();
  /** Those of earlier servers that are reported. */
  readonly #lost: Begun[] = [];
  #followsTaken = false;

  constructor(
    documents: Documents,
    private readonly log: EventLog,
    private readonly store: SessionsStore,
    private readonly servers: SessionServers,
  ) {
    this.#document = documents.open('background-calls', z.array(begun), []);
  }

  onWork(): void {
    if (!lease.isHeld) this.#followTaken();
  }

  /** Reports calls that an earlier server’s end interrupted as lost. */
  async onLead(): Promise<void> {
    this.#followTaken();
    for (const one of this.#document.value)
      if (await this.#isOurs(one.session)) this.#reportLost(one);
  }

  /** One that is being taken from a server that has ended is reported then. */
  async #isOurs(session: string): Promise<boolean> {
    try {
      return (await this.servers.other(session)) === undefined;
    } catch (error) {
      if (errorFrom(error).code === 'unavailable') return false;
      throw error;
    }
  }

  #followTaken(): void {
    if (this.#followsTaken) return;
    this.#followsTaken = true;
    this.log.onTaken((taken) => {
      const sessions = new Set(taken.map(({ id }) => id));
      for (const one of this.#document.value) if (sessions.has(one.session)) this.#reportLost(one);
    });
  }

  /** Once for each call, and not for one that runs here. */
  #reportLost(one: Begun): void {
    const isSame = ({ session, id }: Begun): boolean => session === one.session && id === one.id;
    if ([...this.#running.keys(), ...this.#lost].some(isSame)) return;
    this.#lost.push(one);
    void this.#write(one, { error: lostCall(), seconds: 0 });
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#closing.abort(new AppError('cancelled', 'The server ended.'));
    await Promise.all(this.#running.values());
  }

  /** Resolves once the call has started. Throws `unavailable` when too many are running. */
  async begin({ run, ...call }: BackgroundCall): Promise<StartedAction> {
    const { session, id, operation } = call;
    const own = [...this.#working].filter((one) => one.session === session);
    if (own.length >= mostOfSession || this.#working.size >= mostInAll)
      throw new AppError(
        'unavailable',
        `${own.length} calls of this session and ${this.#working.size} in total are already running in the background. Wait for a result.`,
      );
    const one: Begun = { session, id, operation };
    const noted = Promise.withResolvers<void>();
    this.#running.set(one, noted.promise);
    this.#working.add(one);
    try {
      await this.#document.change((all) => [...all, one]);
    } catch (error) {
      this.#working.delete(one);
      this.#running.delete(one);
      noted.resolve();
      throw error;
    }
    void this.#run(one, run).finally(noted.resolve);
    return {
      background: id,
      text: 'It is running in the background. Its result comes in a later message: continue meanwhile, or reply without a call to wait for it.',
    };
  }

  /** Never rejects. */
  async #run(one: Begun, run: BackgroundCall['run']): Promise<void> {
    const began = performance.now();
    const { signal } = this.#closing;
    const ended = await whileWorking(this.log, one.session, {
      signal,
      inPause: 'wait',
      work: run,
    }).then(
      (output) => ({ output }),
      (error: unknown) => ({ error }),
    );
    this.#working.delete(one);
    const seconds = (performance.now() - began) / 1_000;
    // After the server’s end, the next start reports the call.
    if ('output' in ended || !signal.aborted) await this.#write(one, { ...ended, seconds });
    this.#running.delete(one);
  }

  /**
   * Writes the end of a call, once. Never rejects: what cannot be written now is tried again until this server ends, and
   * then the next start reports it.
   */
  async #write(one: Begun, ended: Ended): Promise<void> {
    const { signal } = this.#closing;
    for (let isLogged = false; ; isLogged = true) {
      const failure = await this.#failureOfWrite(one, ended);
      if (failure !== undefined && !isLogged)
        this.#logger.warn(
          `The result of the call ${one.id} could not be written, and is tried again: ${failure}`,
        );
      if (failure === undefined || signal.aborted) return;
      await delay(tryAgainMs, undefined, { ref: false, signal }).catch(ignoreError('it ends'));
    }
  }

  /** Undefined once the result is written, or not wanted. */
  async #failureOfWrite(one: Begun, ended: Ended): Promise<string | undefined> {
    const { session, id } = one;
    try {
      const { events } = await this.store.ofCall(session, id);
      const isKnown = events.some((event) => isEvent(event, 'background-result'));
      if (!isKnown) await this.log.append(session, [resultOf(one, ended)]);
      await this.#forget(one);
    } catch (error) {
      const { code, message } = errorFrom(error);
      if (code !== 'not_found') return message;
      // The session was removed.
      await this.#forget(one).catch(ignoreError('the next start finds no session'));
    }
    return undefined;
  }

  #forget({ session, id }: Begun): Promise<void> {
    return this.#document.change((all) =>
      all.filter((one) => one.session !== session || one.id !== id),
    );
  }
}

const lostCall = (): AppError =>
  new AppError(
    'cancelled',
    'The server was restarted during this call, so it may have taken effect. Check before you repeat it.',
  );

type Ended = { seconds: number } & ({ output: ActionOutput } | { error: unknown });

function resultOf({ id, operation }: Begun, ended: Ended) {
  const { seconds } = ended;
  if ('output' in ended) {
    const { output } = ended;
    const message = `${operation} ended in the background after ${elapsedText(seconds)}`;
    const args = { operation, ok: true, output, seconds, images: output.images };
    return newEvent('server', 'background-result', { args, message, id });
  }
  const error = errorFrom(ended.error);
  const message = `${operation} failed in the background: ${error.message}`;
  const args = { operation, ok: false, output: error.toJSON(), seconds };
  return newEvent('server', 'background-result', { args, message, id });
}
