import { isEvent, newEvent, NewestMap, type WireFormatName } from '@belay/protocol';
import type { EventLog } from '../../logs/event-log.js';
import type { SessionsStore } from '../../logs/sessions.store.js';
import type { Database } from '../../storage/database.js';
import { parsed } from './event-frames.js';
import { isObject } from './json-fields.js';
import type { ReplacedCall } from './restored.js';
import type { Refusal, HeldCall } from './held-call.js';

/** Sessions whose calls are kept in memory. */
const maxKept = 200;
/** The longest input that is kept, in characters. */
const maxInput = 2 ** 20;

/** The calls that programs got something else for, from the log. */
export class ReplacedCalls {
  readonly #known = new NewestMap<string, Promise<ReplacedCall[]>>(maxKept);

  constructor(
    private readonly log: EventLog,
    private readonly store: SessionsStore,
    private readonly database: Database,
  ) {
    log.onBegun((session) => this.#known.delete(session));
  }

  /** Resolves once it is stored, which must be before the program gets its reply. */
  async add(
    session: string,
    id: string,
    { format, call, refusal }: { format: WireFormatName; call: HeldCall; refusal: Refusal },
  ): Promise<void> {
    // A larger one is not brought back: the provider then sees what the program saw.
    if (call.input.length > maxInput || !canBeRestored(format, call)) return;
    const { tool = null, input: standIn = null } = refusal.standIn ?? {};
    const { name, input, item } = call;
    const { text } = refusal;
    const args = { format, call: call.id, name, input, text, tool, standIn, ...(item && { item }) };
    const message = `The program gets ${tool ?? 'a text'} in the place of ${name}, and its result will be that it was not allowed.`;
    const known = await this.of(session);
    const event = newEvent('server', 'replaced', { args, message, id });
    await this.log.stalls.whenSpace(session, () => this.log.append(session, [event]));
    known.push(args);
  }

  of(session: string): Promise<ReplacedCall[]> {
    const known = this.#known.get(session) ?? this.#read(session);
    this.#known.set(session, known);
    known.catch(() => this.#known.delete(session));
    return known;
  }

  async #read(session: string): Promise<ReplacedCall[]> {
    const actions = ['replaced'] as const;
    const events = await this.store.ofActions(this.database.kysely, session, { from: 1, actions });
    return events.flatMap((event) => (isEvent(event, 'replaced') ? event.args : []));
  }
}

/** A result names its call by id, and where inputs are values, only JSON fits into a request. */
function canBeRestored(format: WireFormatName, { id, input }: HeldCall): boolean {
  if (format === 'gemini') return isObject(parsed(input));
  return id !== '' && (format !== 'messages' || isObject(parsed(input || '{}')));
}
