import { isStarted, platformPrefix, type Event, type EventArgs } from '@belay/protocol';
import { z } from 'zod';
import { backgroundResultText } from './background-result-text.js';
import type { BackgroundCall } from './conversation.js';

interface PendingResult {
  text: string;
  images: string[];
}

/** Calls that were answered before they had ended, and what came of them, as the fold of a log goes on. */
export class BackgroundResults {
  /** Calls that were answered so. */
  readonly #started = new Set<string>();
  /** Those of them whose results are still to come here. */
  readonly #running = new Map<string, BackgroundCall>();
  /** Results whose call is not known: it was rewound, or its answer comes later. */
  readonly #early = new Map<string, EventArgs<'background-result'>>();
  readonly #pending: PendingResult[] = [];

  /** One that goes on by itself from here. */
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

  /** Results that the model was not told of yet. */
  get pending(): string[] {
    return this.#pending.map(({ text }) => text);
  }

  /** The answer of a call, which may be that it goes on. */
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

  /** After a refusal to finish, which told the model what finishing leaves behind. */
  leave({ ok, output }: Pick<EventArgs<'result'>, 'ok' | 'output'>): void {
    for (const id of (!ok && refusal.safeParse(output).data?.details.left) || []) {
      const call = this.#running.get(id);
      if (call) this.#running.set(id, { ...call, left: true });
    }
  }

  /** They end with the session: nobody waits for what they still bring. */
  end(): void {
    this.#running.clear();
  }

  /** What ran for the session that this one continues, does not end here. */
  forget(): void {
    for (const { id, operation } of this.#running.values()) {
      const text = `${platformPrefix}The call ${id} of ${operation} ran for the session that this one continues: its result does not come here. Call it again if you need it.`;
      this.#pending.push({ text, images: [] });
    }
    this.#running.clear();
  }

  /** The model is told of these from now on. */
  take(): PendingResult[] {
    return this.#pending.splice(0);
  }
}

/** As `finish` refuses. */
const refusal = z.object({ details: z.object({ left: z.array(z.string()) }) });
