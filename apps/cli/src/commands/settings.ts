import type { SessionDefaults } from '@belay/protocol';
import { clientFor, type PrintOptions } from '../connection.js';
import { outputTo } from '../output.js';
import { ownSettings, type OwnSettings } from '../own-settings.js';
import { tableLines } from '../print-list.js';

/** `belay settings`: changes the given defaults of new sessions, then prints all. */
export async function changeSettings(options: PrintOptions & OwnSettings): Promise<void> {
  const now = await clientFor(options).settings.change(ownSettings(options));
  const output = outputTo(process.stdout);
  if (options.json) return output.json(now);
  for (const line of tableLines(rows(now), Infinity)) output.line(line);
}

function rows({ approvals, egress, budgets }: SessionDefaults): [string, string][] {
  const limit = (value: number | null, unit = ''): string =>
    value === null ? 'no limit' : `${value}${unit}`;
  return [
    ['approve', approvals],
    ['egress', egress.profile],
    ['allow-host', egress.hosts.join(' ') || 'none'],
    ['max-steps', limit(budgets.steps)],
    ['max-tokens', limit(budgets.tokens)],
    ['max-dollars', limit(budgets.dollars)],
    ['timeout', limit(budgets.seconds, ' s')],
  ];
}
