import type { SessionDefaultsChange } from '@belay/protocol';
import { Option, type Command } from 'commander';
import { count, dollars, limit, seconds, several, type Limit } from './options.js';

/** Approvals, network and limits as options say them. */
export interface OwnSettings {
  approve?: 'ask' | 'delay' | 'auto';
  egress?: 'none' | 'packages' | 'list' | 'open';
  allowHost?: string[];
  maxSteps?: Limit;
  maxTokens?: Limit;
  maxDollars?: Limit;
  timeout?: Limit;
}

export const withOwnSettings = (command: Command): Command =>
  command
    .optionsGroup('Limits, or none to take one away:')
    .option('--timeout <seconds>', 'wall time', limit(seconds))
    .option('--max-steps <n>', 'calls of the model', limit(count))
    .option('--max-tokens <n>', 'tokens', limit(count))
    .option('--max-dollars <amount>', 'cost', limit(dollars))
    .optionsGroup('Approvals and network:')
    .addOption(
      new Option(
        '--approve <mode>',
        'commands and network: ask a person, run after 2 s, or run',
      ).choices(['ask', 'delay', 'auto']),
    )
    .addOption(
      new Option('--egress <profile>', 'hosts that the sandbox may reach').choices([
        'none',
        'packages',
        'list',
        'open',
      ]),
    )
    .option('--allow-host <host>', 'one more host, such as api.example.org:443', several)
    .optionsGroup('Options:');

/** What was said; the rest comes from the server's settings. */
export function ownSettings(options: OwnSettings): SessionDefaultsChange {
  const { approve, egress, allowHost, maxSteps, maxTokens, maxDollars, timeout } = options;
  return {
    ...(approve && { approvals: approve }),
    egress: { ...(egress && { profile: egress }), ...(allowHost && { hosts: allowHost }) },
    budgets: {
      ...(maxSteps && { steps: limitOf(maxSteps) }),
      ...(maxTokens && { tokens: limitOf(maxTokens) }),
      ...(maxDollars && { dollars: limitOf(maxDollars) }),
      ...(timeout && { seconds: limitOf(timeout) }),
    },
  };
}

const limitOf = (said: Limit): number | null => (said === 'none' ? null : said);
