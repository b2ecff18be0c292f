import {
  approvalMode,
  type ApprovalMode,
  hostSetIn,
  hostSetNames,
  type HostSetName,
  networkProfile,
  type NetworkProfile,
  type SessionDefaultsChange,
} from '@belay/protocol';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { wholeNumber, dollarAmount, limit, seconds, several, type Limit } from './options.js';

/** Approvals, network and limits as options of the command line. */
export interface OwnSettings {
  approve?: ApprovalMode;
  egress?: NetworkProfile;
  allowHost?: string[];
  allowPackages?: HostSetName[];
  maxSteps?: Limit;
  maxTokens?: Limit;
  maxDollars?: Limit;
  timeout?: Limit;
}

export const withOwnSettings = (command: Command): Command =>
  command
    .optionsGroup('Limits (`none` removes one):')
    .option('--timeout <seconds>', 'maximum wall time in seconds', limit(seconds))
    .option('--max-steps <n>', 'maximum number of model calls', limit(wholeNumber))
    .option('--max-tokens <n>', 'maximum number of tokens', limit(wholeNumber))
    .option('--max-dollars <amount>', 'maximum cost in US dollars', limit(dollarAmount))
    .optionsGroup('Approvals and network:')
    .addOption(
      new Option(
        '--approve <mode>',
        'plan changes nothing before you approve a plan; safe asks before every action, ask before commands and network access; delay waits 2 s, rules runs only what a rule allows and asks nobody, auto runs at once',
      ).choices(approvalMode.options),
    )
    .addOption(
      new Option('--egress <profile>', 'hosts that the sandbox can reach').choices(
        networkProfile.options,
      ),
    )
    .option(
      '--allow-host <host>',
      'also allow this host, such as api.example.org:443 (repeatable)',
      several,
    )
    .addOption(
      new Option(
        '--allow-packages <set>',
        `also allow the hosts of a package manager, including GitHub’s source downloads: ${hostSetNames.join(', ')} (repeatable)`,
      ).argParser(setOfHosts),
    )
    .optionsGroup('Options:');

/** The given options; the rest comes from the server’s settings. */
export function ownSettings(options: OwnSettings): SessionDefaultsChange {
  const { approve, egress, maxSteps, maxTokens, maxDollars, timeout } = options;
  const { allowHost, allowPackages } = options;
  const hosts = (allowHost || allowPackages) && [
    ...(allowHost ?? []),
    ...(allowPackages ?? []).map((name) => `@${name}`),
  ];
  return {
    ...(approve && { approvals: approve }),
    egress: { ...(egress && { profile: egress }), ...(hosts && { hosts }) },
    budgets: {
      ...(maxSteps && { steps: limitOf(maxSteps) }),
      ...(maxTokens && { tokens: limitOf(maxTokens) }),
      ...(maxDollars && { dollars: limitOf(maxDollars) }),
      ...(timeout && { seconds: limitOf(timeout) }),
    },
  };
}

function setOfHosts(given: string, before: readonly HostSetName[] = []): HostSetName[] {
  const name = hostSetIn(`@${given}`);
  if (name) return [...before, name];
  throw new InvalidArgumentError(`Choose one of: ${hostSetNames.join(', ')}.`);
}

const limitOf = (given: Limit): number | null => (given === 'none' ? null : given);
