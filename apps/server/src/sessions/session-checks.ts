import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import {
  AppError,
  errorFrom,
  isEnded,
  newEvent,
  visibleText,
  type EventArgs,
  type SessionSummary,
} from '@belay/protocol';
import { EventLog } from '../logs/event-log.js';
import { CheckRunner } from '../sandboxes/lifecycle/check-runner.js';
import { SandboxSlots } from './sandbox-slots.js';
import { StartQueue } from './start-queue.js';

/** Runs the check commands of ended sessions in their sandboxes, and writes the results to the log. */
@Injectable()
export class SessionChecks implements OnModuleDestroy {
  readonly #logger = new Logger(SessionChecks.name);
  readonly #running = new Map<string, AbortController>();
  #closing = false;

  constructor(
    private readonly log: EventLog,
    private readonly runner: CheckRunner,
    private readonly queue: StartQueue,
    private readonly slots: SandboxSlots,
  ) {}

  onModuleDestroy(): void {
    this.#closing = true;
    for (const controller of this.#running.values()) controller.abort();
  }

  /** Throws unless the session has ended and has a check; the result is logged later. */
  async again(session: string): Promise<void> {
    const { state, check } = await this.log.summary(session);
    if (check === null)
      throw new AppError('conflict', 'The session was started without a check command.');
    if (!isEnded(state))
      throw new AppError('conflict', `The session is ${state}: its check is run at its end.`);
    void this.run(session);
  }

  /** The session works again, so a pending check no longer counts. */
  cancel(session: string): void {
    this.#running.get(session)?.abort();
  }

  /** Resolves when the check has ended; never rejects. The sandbox stays until then, and lingers afterwards. */
  async run(session: string): Promise<void> {
    this.cancel(session);
    const controller = new AbortController();
    this.#running.set(session, controller);
    const { signal } = controller;
    try {
      const { check: command } = await this.log.settings(session);
      if (command === null) return;
      const write = (args: Omit<EventArgs<'check'>, 'command'>, message: string) =>
        this.#write(session, { ...args, command }, { message, signal });
      const before = { exitCode: null, seconds: null, reason: null, output: '' };
      await write({ ...before, state: 'running' }, `The check is run: ${command}`);
      try {
        // When the session works again, its new start creates the sandbox.
        signal.throwIfAborted();
        this.slots.keep(session);
        await this.queue.wakeIfGone(session);
        this.slots.take(session);
        this.slots.keep(session);
        const { output, ...found } = await this.runner.runCheck(session, command, signal);
        const words = `The check ended with the exit code ${found.exitCode}.`;
        const text = visibleText(output);
        await write({ ...before, ...found, output: text, state: 'ended' }, words);
      } catch (error) {
        const reason = errorFrom(error).message;
        await write({ ...before, reason, state: 'failed' }, `The check was not run. ${reason}`);
      }
    } catch (error) {
      this.#logger.warn(error);
    } finally {
      if (this.#running.get(session) === controller) {
        this.#running.delete(session);
        // During shutdown the sandbox is not released to another session: the check is repeated at the next start.
        if (!this.#closing) await this.#release(session);
      }
    }
  }

  async #write(
    session: string,
    args: EventArgs<'check'>,
    { message, signal }: { message: string; signal: AbortSignal },
  ): Promise<void> {
    await this.log.append(session, ({ state }) =>
      isEnded(state) && !signal.aborted ? [newEvent('server', 'check', { args, message })] : [],
    );
  }

  async #release(session: string): Promise<void> {
    const summary = await this.log.summary(session).catch(() => undefined);
    if (summary && isEnded(summary.state)) this.slots.linger(session);
  }
}

/** Whether the session’s check never finished, in this server or an earlier one. */
export const isUnchecked = ({ state, check }: SessionSummary): boolean =>
  isEnded(state) &&
  state !== 'stopped' &&
  (check?.state === 'waiting' || check?.state === 'running');
