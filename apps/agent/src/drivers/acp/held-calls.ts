import { isDeepStrictEqual } from 'node:util';
import { AppError, isCall, isEvent, type Event } from '@belay/protocol';
import { refusalOf, type UnreportedCall } from '../unreported-result.js';
import { operationOf, type ReportedCall } from './tool-call.js';

/** A call that the server held on its way from the model. */
export interface HeldToolCall {
  readonly event: Event;
  /** Why it was refused. */
  refusal?: AppError;
  /** Whether the program got a call in its place that only tells it why. */
  isReplaced?: true;
}

/**
 * The calls that the server has read from the model’s replies and logged. A program reports most of them by the same
 * id; others are known by what they do.
 */
export class HeldCalls {
  readonly #agent: string;
  readonly #held = new Map<string, HeldToolCall>();
  /** Those that are known to be a reported call, by the id of the report. */
  readonly #reported = new Map<string, HeldToolCall>();

  /** `agent` is the agent’s name. */
  constructor(agent: string) {
    this.#agent = agent;
  }

  /** Takes events of others, in order. */
  handle(event: Event): void {
    const { action, source, id = '' } = event;
    if (source === 'server' && isCall(action)) this.#held.set(id, { event });
    const held = this.#held.get(id);
    if (held && isEvent(event, 'reject')) held.refusal = refusalOf(event);
    if (held && isEvent(event, 'replaced')) {
      if (event.args.tool !== null) held.isReplaced = true;
      // A call that the user changed, or that the server refused by itself, was not rejected before.
      held.refusal ??= new AppError('rejected', 'This was not allowed.');
    }
  }

  /** Takes the calls that the program has not reported. */
  takeUnreported(): UnreportedCall[] {
    const reported = new Set(this.#reported.values());
    const left = [...this.#held].filter(([, held]) => !reported.has(held));
    for (const [id] of left) this.#held.delete(id);
    return left.map(([, { event, refusal }]) => ({ event, refusal }));
  }

  /** The held call that a report is about; undefined if there is none. Each belongs to one reported call. */
  find(call: ReportedCall): HeldToolCall | undefined {
    const { toolCallId } = call;
    const known = this.#reported.get(toolCallId);
    if (known) return known;
    const taken = new Set(this.#reported.values());
    const free = [...this.#held.values()].filter((held) => !taken.has(held));
    const found =
      free.find(({ event }) => event.id === toolCallId) ??
      // Some programs write the name of the tool before it.
      free.find(({ event }) => event.id && toolCallId.endsWith(`__${event.id}`)) ??
      free.find(({ event }) => this.#isSame(event, call));
    if (found) this.#reported.set(toolCallId, found);
    return found;
  }

  #isSame({ action, args }: Event, call: ReportedCall): boolean {
    const { operation, input } = operationOf(this.#agent, call);
    if (operation.display !== 'command') return isDeepStrictEqual(args, call.rawInput);
    return action === operation.name && args['command'] === input['command'];
  }
}
