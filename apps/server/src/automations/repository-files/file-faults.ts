import { isForgeTrigger, type AutomationDefinition } from '@belay/protocol';

/** What a run of a definition in a repository may cost at most, and all of them in a month. */
const maxRunDollars = 10;
const maxMonthDollars = 100;

/**
 * Whoever may push to the default branch of a repository may write its definitions, so these do less than an admin’s own:
 * they are about that repository, have nothing of the server but its models, and cost little. Returns a sentence each.
 */
export function fileFaults(
  { on, run, lane, trust }: AutomationDefinition,
  { host, repository }: { host: string; repository: string },
): string[] {
  const own = `${host}/${repository}`.toLowerCase();
  const faults: [isThere: boolean, sentence: string][] = [
    [
      !isForgeTrigger(on) && 'session' in on,
      'on.session is for definitions of an admin: other sessions do not belong to the repository.',
    ],
    [
      isForgeTrigger(on) && `${on.host}/${on.repository}`.toLowerCase() !== own,
      `on.repository has to be ${repository}, the repository of the file.`,
    ],
    [
      !isForgeTrigger(on) &&
        'repository' in on &&
        on.repository !== undefined &&
        pathOf(on.repository) !== own,
      `on.repository has to be the address of ${repository}, the repository of the file.`,
    ],
    [
      run.mcp.length > 0 || run.actions.length > 0,
      'run.mcp and run.actions are for definitions of an admin.',
    ],
    [
      !['none', 'packages'].includes(run.egress.profile) || run.egress.hosts.length > 0,
      'run.egress may be none or packages, without hosts.',
    ],
    [run.approvals === 'auto', 'run.approvals may be rules or ask.'],
    [run.image !== null, 'run.image is for definitions of an admin.'],
    [
      (run.budgets.dollars ?? 0) > maxRunDollars,
      `run.budgets.dollars may be at most ${maxRunDollars}.`,
    ],
    [run.budgets.dollars === undefined, 'run.budgets.dollars has to be named.'],
    [
      lane.dollarsPerMonth > maxMonthDollars,
      `lane.dollarsPerMonth may be at most ${maxMonthDollars}.`,
    ],
    [
      trust.content === 'quoted' || trust.forks === 'review',
      'trust.content and trust.forks are for definitions of an admin to widen.',
    ],
  ];
  return faults.flatMap(([isThere, sentence]) => (isThere ? [sentence] : []));
}

/** `https://host/acme/api.git` as `host/acme/api`. */
const pathOf = (url: string): string =>
  url
    .replace(/^https?:\/\//, '')
    .replace(/\.git$/, '')
    .toLowerCase();
