import type { ChangeRecord } from '@belay/protocol';
import { canonicalJson } from './canonical-json.js';
import { DoesNotHold } from './does-not-hold.js';
import { FollowedLog } from './followed-log.js';
import { ObservedLog } from './observed-log.js';

/**
 * Follows a published log to the event that a record names, and compares what it says. Throws `DoesNotHold`. Returns
 * whether the contents were there to compare.
 */
export async function logMatches(
  lines: AsyncIterable<string>,
  { session, log: said, observed }: ChangeRecord,
): Promise<boolean> {
  let log: FollowedLog | undefined;
  let isShown = true;
  const gathered = new ObservedLog();
  for await (const line of lines) {
    if (!log) {
      log = new FollowedLog(line);
      if (log.session !== session.id || log.created !== session.created)
        throw new DoesNotHold(`The log is of the session ${log.session}, not of ${session.id}.`);
      continue;
    }
    if (log.seq === said.seq) break;
    const record = log.add(line);
    if (record) gathered.add(record);
    else isShown = false;
  }
  const seq = log?.seq ?? 0;
  if (seq < said.seq)
    throw new DoesNotHold(`The log ends at ${seq}; the statement saw ${said.seq}.`);
  if (log?.digest !== said.head)
    throw new DoesNotHold('The log is not the one that the statement saw.');
  if (isShown && canonicalJson(gathered.result) !== canonicalJson(observed))
    throw new DoesNotHold('The statement says something else of the session than its log.');
  return isShown;
}
