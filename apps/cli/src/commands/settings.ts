import type { SessionDefaults } from '@belay/protocol';
import { connect, type Where } from '../connection.js';
import { outputTo } from '../output.js';
import { ownSettings, type OwnSettings } from '../own-settings.js';

/** `belay settings`: changes the given defaults of new sessions, then prints all. */
export async function settings(options: Where & OwnSettings & { json?: boolean }): Promise<void> {
  const { client, live } = connect(options);
  try {
    const now = await client.settings.change(ownSettings(options));
    const output = outputTo(process.stdout);
    if (options.json) output.json(now);
    else for (const [name, value] of rows(now)) output.line(`${name.padEnd(14)} ${value}`);
  } finally {
    live.close();
  }
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
