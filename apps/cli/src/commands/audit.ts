import type { AuditEntry } from '@belay/protocol';
import { clientOf, findServer, findSession, type Where } from '../connection.js';
import { oneLine, outputTo } from '../output.js';

/** The server’s limit of a page. */
const maxPage = 1_000;

/** `belay audit`: one line per entry, the newest first. */
export async function printAudit(
  options: Where & { json?: boolean; session?: string; caller?: string; lines: number },
): Promise<void> {
  const output = outputTo(process.stdout);
  const client = clientOf(findServer(options));
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
  if (options.json) return output.json(found);
  if (found.length === 0) return output.line('Nothing is recorded yet.');
  for (const { time, label, api, action, outcome, subject } of found) {
    const who = oneLine(label ?? 'nobody', 16);
    const begin = `${time.slice(0, 19).replace('T', ' ')}  ${who.padEnd(16)}  ${api.padEnd(9)}  ${action.padEnd(20)}  ${outcome.padEnd(13)}  `;
    output.line(begin + oneLine(subject, Math.max(20, output.width - begin.length)));
  }
}
