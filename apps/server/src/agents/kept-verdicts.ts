import { NewestMap, type ApprovalVerdict } from '@belay/protocol';
import type { JudgedReply } from '../models/wire/call-judge.js';

/** The sessions for which verdicts are kept. */
const maxSessions = 500;

/** A verdict of the user, and what it is about. */
interface Given {
  about: string;
  verdict: ApprovalVerdict;
}

/**
 * The user’s verdicts on calls that no program got, because the reply with them broke off. Its program repeats the
 * request, and the model calls the same again under a new id: that call has the verdict, once.
 */
export class KeptVerdicts {
  /** By the keys of their calls in a reply. */
  readonly #given = new WeakMap<JudgedReply, Map<string, Given>>();
  readonly #kept = new NewestMap<string, Given[]>(maxSessions);

  note(reply: JudgedReply, call: string, given: Given): void {
    const own = this.#given.get(reply) ?? new Map<string, Given>();
    this.#given.set(reply, own.set(call, given));
  }

  /** Keeps the verdicts on these calls of a reply until `take` or `clear`. */
  keep(reply: JudgedReply, calls: readonly string[]): void {
    const own = this.#given.get(reply);
    const given = calls.flatMap((call) => own?.get(call) ?? []);
    if (given.length > 0) this.#kept.set(reply.session, given);
  }

  /** A kept verdict, which then is no longer kept. */
  take(session: string, about: string): ApprovalVerdict | undefined {
    const kept = this.#kept.get(session) ?? [];
    const at = kept.findIndex((one) => one.about === about);
    return at < 0 ? undefined : kept.splice(at, 1)[0]?.verdict;
  }

  clear(session: string): void {
    this.#kept.delete(session);
  }
}
