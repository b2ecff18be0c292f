import { AppError, hostQuestionPrefix, isCall, type NewEvent } from '@belay/protocol';

/** The ids under which these events begin calls. */
export const idsOfCalls = (events: readonly NewEvent[]): string[] =>
  events.flatMap(({ id, action }) => (id !== undefined && isCall(action) ? id : []));

/**
 * Throws `forbidden` unless each id is that of one call: what was decided about a call under an id can then never be
 * about another one.
 */
export function refuseUsedIds(ids: readonly string[], used: ReadonlySet<string>): void {
  const seen = new Set(used);
  for (const id of ids) {
    // Not stored as it is: see `plain` of the store.
    const isAltered = id.includes('\0') || !id.isWellFormed();
    if (isAltered || id.startsWith(hostQuestionPrefix)) {
      throw new AppError('forbidden', `${id} cannot be the id of a call.`);
    }
    if (seen.has(id)) throw new AppError('forbidden', `The log has a call ${id} already.`);
    seen.add(id);
  }
}
