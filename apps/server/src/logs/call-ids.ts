import { AppError, hostQuestionPrefix, isCall, type NewEvent } from '@belay/protocol';

/** The ids of the calls that these events begin. */
export const idsOfCalls = (events: readonly NewEvent[]): string[] =>
  events.flatMap(({ id, action }) => (id !== undefined && isCall(action) ? id : []));

/**
 * Throws `forbidden` unless each id belongs to one call only. A decision about a call can then never apply to another
 * one.
 */
export function refuseUsedIds(ids: readonly string[], used: ReadonlySet<string>): void {
  const seen = new Set(used);
  for (const id of ids) {
    // The store would change these characters: see `plain` there.
    const isAltered = id.includes('\0') || !id.isWellFormed();
    if (isAltered || id.startsWith(hostQuestionPrefix)) {
      throw new AppError('forbidden', `${id} cannot be the id of a call.`);
    }
    if (seen.has(id)) throw new AppError('forbidden', `The log has a call ${id} already.`);
    seen.add(id);
  }
}
