import {
  AppError,
  isEvent,
  newEvent,
  undoneMessages,
  type Event,
  type EventOf,
  type NewEvent,
  type SessionSummary,
} from '@belay/protocol';
import type { DatabaseConnection } from '../storage/database-schema.js';
import type { Appendix } from './appendix.js';
import type { SessionsStore } from './sessions.store.js';

/** The parts of the event log that are used here. */
interface Log {
  append(session: string, events: Appendix): Promise<Event[]>;
  epoch(session: string): Promise<number>;
}

/** A message of a session, by its number in the log. */
interface Message {
  session: string;
  message: number;
}

/**
 * Messages that wait for the end of a turn can be changed until the agent takes them. Changes and deliveries are
 * events, decided in log order: the agent never reads an outdated text, even after a restart.
 */
export class QueuedMessages {
  readonly #log: Log;
  readonly #store: SessionsStore;

  constructor(log: Log, store: SessionsStore) {
    this.#log = log;
    this.#store = store;
  }

  /** Throws `not_found`, or `conflict` when the message can no longer be changed. */
  async edit({ session, message }: Message, text: string): Promise<void> {
    await this.#log.append(session, async (summary, _settings, connection) => {
      const { isWithdrawn } = await this.#changeable(summary, message, connection);
      if (isWithdrawn) throw fixed('was withdrawn: send another one');
      return [newEvent('user', 'edit', { args: { message, text }, message: text })];
    });
  }

  /** Withdrawing a message twice changes nothing. Throws like `edit`. */
  async withdraw({ session, message }: Message): Promise<void> {
    await this.#log.append(session, async (summary, _settings, connection) => {
      const { isWithdrawn, event } = await this.#changeable(summary, message, connection);
      if (isWithdrawn) return [];
      await this.#assertNothingDependsOn(session, event, connection);
      const text = 'Withdrew a queued message.';
      return [newEvent('user', 'withdraw', { args: { message }, message: text })];
    });
  }

  /**
   * Delivers messages to the agent of this epoch, which knows events up to `through`. Throws `conflict` when one was
   * changed since.
   */
  async deliver(
    session: string,
    epoch: number,
    { messages, through }: { messages: number[]; through: number },
  ): Promise<void> {
    await this.#log.append(session, async ({ lastSeq }, _settings, connection) => {
      if (epoch !== (await this.#log.epoch(session)))
        throw new AppError('conflict', 'Another sandbox works on this session now.');
      const asked = new Set(messages.filter((message) => message <= lastSeq));
      if (asked.size === 0) return [];
      const first = Math.min(...asked);
      const later = await this.#store.ofActions(connection, session, {
        from: first,
        actions: ['deliver', 'withdraw'],
      });
      // Only existing messages are delivered, each once, so an agent cannot fill the log with numbers.
      const found = await this.#store.ofActions(connection, session, {
        from: first,
        to: Math.max(...asked),
        actions: ['message'],
      });
      const queued = new Set(found.filter(isQueued).map(({ seq }) => seq));
      const edits = await this.#store.ofActions(connection, session, {
        from: Math.min(through + 1, lastSeq),
        actions: ['edit'],
      });
      const changed = [...later, ...edits].some(
        (event) =>
          event.seq > through &&
          (isEvent(event, 'edit') || isEvent(event, 'withdraw')) &&
          asked.has(event.args.message),
      );
      if (changed) throw new AppError('conflict', 'The user changed a message meanwhile.');
      for (const taken of later.flatMap(takenBy)) queued.delete(taken);
      const fresh = [...asked].filter((message) => queued.has(message));
      return fresh.length === 0 ? [] : [delivery(fresh)];
    });
  }

  async #changeable(
    { id: session, lastSeq }: SessionSummary,
    message: number,
    connection: DatabaseConnection,
  ): Promise<{ event: Event & EventOf<'message'>; isWithdrawn: boolean }> {
    const [event] =
      message > lastSeq
        ? []
        : await this.#store.ofActions(connection, session, {
            from: message,
            to: message,
            actions: ['message'],
          });
    if (!event || !isEvent(event, 'message'))
      throw new AppError('not_found', `Event ${message} of this session is not a message.`);
    if (event.args.delivery !== 'queue')
      throw fixed('was sent immediately: it can no longer be changed');
    const later = await this.#store.ofActions(connection, session, {
      from: message,
      actions: ['deliver', 'withdraw', 'rewind'],
    });
    if (later.flatMap(takenBy).includes(message))
      throw fixed('was taken by the agent: it can no longer be changed, send another one');
    if (undoneMessages(later)(event))
      throw fixed('was rewound: it no longer counts, send another one');
    const isWithdrawn = later.some(
      (one) => isEvent(one, 'withdraw') && one.args.message === message,
    );
    return { event, isWithdrawn };
  }

  /** A message that resumed the session or answered its question has already had effects. */
  async #assertNothingDependsOn(
    session: string,
    { seq, args }: Event & EventOf<'message'>,
    connection: DatabaseConnection,
  ): Promise<void> {
    const before = await this.#store.ofActions(connection, session, {
      from: Math.max(1, seq - 2),
      to: seq,
      actions: ['start'],
    });
    if (before.some((event) => isEvent(event, 'start') && event.args.again))
      throw fixed('has resumed the session: edit it, or stop the session');
    if (args.review) return;
    const open = await this.#store.openCall(connection, session, { action: 'ask', before: seq });
    if (open) throw fixed('answers the agent’s question: edit it, or send another one');
  }
}

const fixed = (why: string): AppError => new AppError('conflict', `This message ${why}.`);

const isQueued = (event: Event): boolean =>
  isEvent(event, 'message') && event.args.delivery === 'queue';

const takenBy = (event: Event): number[] => (isEvent(event, 'deliver') ? event.args.messages : []);

const delivery = (messages: number[]): NewEvent =>
  newEvent('server', 'deliver', { args: { messages }, message: 'The agent has taken it.' });
