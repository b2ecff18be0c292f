import { isStarted, platformPrefix, type Event, type EventArgs } from '@belay/protocol';
import { z } from 'zod';
import { backgroundResultText } from './background-result-text.js';
import type { BackgroundCall } from './conversation.js';

interface PendingResult {
  text: string;
  images: string[];
}

/** Background calls and their results, as part of a conversation’s fold. */
export class BackgroundResults {
  /** Calls that were answered while they still ran. */
  readonly #started = new Set<string>();
  /** Those whose results have not arrived yet. */
  readonly #running = new Map<string, BackgroundCall>();
  /** Results of unknown calls: the call was rewound, or its answer follows later. */
  readonly #early = new Map<string, EventArgs<'background-result'>>();
  readonly #pending: PendingResult[] = [];

  /** A copy that continues independently. */
  fork(): BackgroundResults {
    const fork = new BackgroundResults();
    for (const id of this.#started) fork.#started.add(id);
    for (const [id, call] of this.#running) fork.#running.set(id, call);
    for (const [id, result] of this.#early) fork.#early.set(id, result);
    fork.#pending.push(...this.#pending);
    return fork;
  }

  get running(): BackgroundCall[] {
    return [...this.#running.values()];
  }

  /** Results that the model has not got yet. */
  get pending(): string[] {
    return this.#pending.map(({ text }) => text);
  }

  /** Records a call’s answer, which may be that it continues in the background. */
  answer(id: string, result: EventArgs<'result'>, call: Pick<Event, 'args'> | undefined): void {
    if (!isStarted(result)) return;
    const { operation } = result;
    this.#started.add(id);
    const early = this.#early.get(id);
    if (early) this.add(id, early);
    else this.#running.set(id, { id, operation, input: call?.args ?? {}, left: false });
  }

  add(id: string, result: EventArgs<'background-result'>): void {
    if (!this.#started.has(id)) return void this.#early.set(id, result);
    this.#running.delete(id);
    this.#pending.push({ text: backgroundResultText(id, result), images: result.images });
  }

  /** Records a refusal to finish, which told the model which calls finishing would abandon. */
  leave({ ok, output }: Pick<EventArgs<'result'>, 'ok' | 'output'>): void {
    for (const id of (!ok && refusal.safeParse(output).data?.details.left) || []) {
      const call = this.#running.get(id);
      if (call) this.#running.set(id, { ...call, left: true });
    }
  }

  /** The session’s end: nobody waits for their results any more. */
  end(): void {
    this.#running.clear();
  }

  /** Forgets calls of the session that this one continues; their results do not arrive here. */
  forget(): void {
    for (const { id, operation } of this.#running.values()) {
      const text = `${platformPrefix}The call ${id} of ${operation} ran for the session that this one continues: its result does not come here. Call it again if you need it.`;
      this.#pending.push({ text, images: [] });
    }
    this.#running.clear();
  }

  /** Returns the results, which the model gets now. */
  take(): PendingResult[] {
    return this.#pending.splice(0);
  }
}

/** The error with which `finish` refuses. */
const refusal = z.object({ details: z.object({ left: z.array(z.string()) }) });
