import { isEvent, type Event } from '@belay/protocol';
import { ConversationFold } from './conversation-fold.js';
import type { Conversation } from './conversation.js';
import { counted, counts, inPromptOrder, recounts } from './counted.js';

/**
 * Folds a log into its conversation. Pure: the same events always give the same conversation. The agent's events count
 * in their order; those of others count as late as a prompt may have known them, so their exact positions in the log
 * do not matter. A queued message joins at the end of a turn (a reply without calls, `ask` or `finish`), an immediate
 * one before the next prompt; the first waiting message answers `ask`.
 */
export function foldConversation(events: readonly Event[]): Conversation {
  return foldOf(events).conversation(sandboxOf(events));
}

/** The description of the sandbox in the prompts, stored with the first reply, even if that reply was rewound. */
export function sandboxOf(events: readonly Event[]): string | null {
  for (const event of events) {
    if (isEvent(event, 'say') && event.args.sandbox !== undefined) return event.args.sandbox;
  }
  return null;
}

/**
 * The conversation of a growing log. Events are added to the current state; the whole log is folded again only after a
 * rewind, a restore or a changed message, and when an event arrives after others that should have known it.
 */
export class ConversationLog {
  readonly #events: Event[] = [];
  readonly #ids = new Set<string>();
  /** Null if the events must be folded again. */
  #fold: ConversationFold | null = new ConversationFold();
  #counts: (event: Event) => boolean = () => true;
  #sandbox: string | null = null;
  #conversation: Conversation | null = null;

  append(event: Event): void {
    this.#events.push(event);
    this.#conversation = null;
    this.#sandbox ??= sandboxOf([event]);
    for (const id of idsIn(event)) this.#ids.add(id);
    if (recounts(event)) {
      this.#counts = counts(this.#events);
      this.#fold = null;
    } else if (this.#fold && this.#counts(event)) {
      if (this.#fold.follows(event)) this.#fold.add(event);
      else this.#fold = null;
    }
  }

  /** Equal to `foldConversation` of all events. */
  get conversation(): Conversation {
    return (this.#conversation ??= this.#folded().conversation(this.#sandbox));
  }

  /** The conversation with one more event of the agent. */
  with(event: Event): Conversation {
    const fold = this.#folded().fork();
    fold.add(event);
    return fold.conversation(this.#sandbox);
  }

  /** Whether an id names a call in this log. */
  has(id: string): boolean {
    return this.#ids.has(id);
  }

  #folded(): ConversationFold {
    return (this.#fold ??= foldOf(this.#events));
  }
}

function foldOf(events: readonly Event[]): ConversationFold {
  const fold = new ConversationFold();
  for (const event of inPromptOrder(counted(events))) fold.add(event);
  return fold;
}

function idsIn(event: Event): string[] {
  const asked = isEvent(event, 'say') ? event.args.calls.map(({ id }) => id) : [];
  return event.id === undefined ? asked : [event.id, ...asked];
}
