import type { AuditEntry } from '@belay/protocol';
import { clientFor, findSession, type PrintOptions } from '../connection.js';
import { printList } from '../print-list.js';

/** The largest page that the server returns. */
const maxPage = 1_000;

/** `belay audit`: one line per entry, the newest first. */
export async function printAudit(
  options: PrintOptions & { session?: string; caller?: string; lines: number },
): Promise<void> {
  const client = clientFor(options);
  const session = options.session && (await findSession(client, options.session)).id;
  const found: AuditEntry[] = [];
  for (let before: number | undefined; found.length < options.lines;) {
    const limit = Math.min(maxPage, options.lines - found.length);
    const { caller } = options;
    const { entries, next } = await client.audit.list({ before, limit, session, caller });
    found.push(...entries);
    if (next === null) break;
    before = next;
  }
  printList(found, options, {
    empty: 'Nothing has been recorded yet.',
    row: ({ time, label, api, action, outcome, subject }) => [
      time.slice(0, 19).replace('T', ' '),
      label ?? 'nobody',
      api,
      action,
      outcome,
      subject,
    ],
  });
}
