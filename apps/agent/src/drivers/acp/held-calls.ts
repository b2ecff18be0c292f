import { isDeepStrictEqual } from 'node:util';
import { isCall, type Event } from '@belay/protocol';
import { operationOf, type ReportedCall } from './tool-call.js';

/** A call that the server held on its way from the model, and what was decided about it. */
export interface HeldToolCall {
  readonly event: Event;
  verdict: 'approved' | 'rejected';
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
    if (source === 'server' && isCall(action)) this.#held.set(id, { event, verdict: 'approved' });
    const held = this.#held.get(id);
    if (held && action === 'reject') held.verdict = 'rejected';
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
      free.find(({ event }) => this.#isSame(event, call));
    if (found) this.#reported.set(toolCallId, found);
    return found;
  }

  /** The refused calls that no report is about, such as those that a text stands in for; each is returned once. */
  takeRefused(): Event[] {
    const reported = new Set(this.#reported.values());
    const refused = [...this.#held.values()].filter(
      (held) => held.verdict === 'rejected' && !reported.has(held),
    );
    return refused.map(({ event }) => {
      this.#held.delete(event.id ?? '');
      return event;
    });
  }

  #isSame({ action, args }: Event, call: ReportedCall): boolean {
    const { operation, input } = operationOf(this.#agent, call);
    if (operation.display !== 'command') return isDeepStrictEqual(args, call.rawInput);
    return action === operation.name && args['command'] === input['command'];
  }
}
