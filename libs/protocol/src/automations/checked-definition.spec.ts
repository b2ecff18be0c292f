import fc from 'fast-check';
import { checkedDefinition } from './checked-definition.js';
import { faultPath } from './definition-fault.js';

type Json = Record<string, unknown>;

const onPull = { host: 'github.com', repository: 'acme/api', event: 'pull.opened' };
const honest = {
  name: 'review',
  on: onPull,
  run: { task: 'Review it.', budgets: { dollars: 2 } },
};

/** The faults of the honest definition with changes, as `path: message`. */
const faultsOf = (change: Json): string[] =>
  checkedDefinition({ ...honest, ...change }).faults.map(
    ({ path, message }) => `${faultPath(path)}: ${message}`,
  );

const run = (more: Json): Json => ({ run: { ...honest.run, ...more } });
const on = (more: Json): Json => ({ on: { ...onPull, ...more } });

describe('a definition', () => {
  it('is read with its defaults', () => {
    const { definition } = checkedDefinition(honest);
    expect(definition).toMatchObject({
      trust: { actors: 'write', content: 'writers', forks: 'refuse' },
      run: { approvals: 'rules', egress: { profile: 'none', hosts: [] }, mcp: [], actions: [] },
      lane: { key: '{subject}', busy: 'queue' },
      out: {},
      dry: false,
    });
  });

  it('may name the hosts by their short names', () => {
    const hosts = ['github', 'gitlab', 'git.acme.dev'].map((host) => {
      const trigger = checkedDefinition({ ...honest, ...on({ host }) }).definition?.on;
      return trigger && 'host' in trigger ? trigger.host : undefined;
    });
    expect(hosts).toEqual(['github.com', 'gitlab.com', 'git.acme.dev']);
  });

  it.each<[string, Json]>([
    ['time', { on: { schedule: '30 2 * * 1-5', zone: 'Europe/Berlin' } }],
    [
      'URL',
      {
        on: { url: true, where: `alert.severity == 'critical'`, key: 'alert_id' },
        lane: { key: '{alert.id}' },
      },
    ],
    [
      'session',
      { on: { session: { automation: 'fix', state: ['finished'] }, where: `tags contains 'x'` } },
    ],
    [
      'hand',
      { on: { hand: true, repository: 'https://github.com/a/b' }, out: { pullRequest: {} } },
    ],
    [
      'several events',
      on({ event: ['pull.opened', 'pull.updated'], where: '!draft && number > 1' }),
    ],
    [
      'label',
      {
        ...on({ event: ['issue.labelled', 'pull.labelled'], label: 'belay' }),
        out: { comment: {} },
      },
    ],
    ['command', on({ event: ['issue.command', 'issue.labelled'], command: 'fix', label: 'belay' })],
    ['strangers', { trust: { content: 'quoted', forks: 'review' }, out: { review: {} } }],
    [
      'writers with ways out',
      {
        ...run({ egress: { profile: 'packages' }, mcp: ['a'], approvals: 'auto' }),
        out: { pullRequest: {} },
      },
    ],
    [
      'checks',
      {
        ...on({ event: 'checks.failed', where: `branch startsWith 'belay/'` }),
        lane: { key: 'pr:{number}' },
        out: { push: { branch: 'same' }, comment: {} },
      },
    ],
  ])('begins by %s', (_, change) => {
    expect(faultsOf(change)).toEqual([]);
  });

  it.each<[string, Json, string[]]>([
    [
      'a key that is misspelt',
      { lane: { busi: 'skip' } },
      ['lane.busi: is unknown; did you mean busy?'],
    ],
    [
      'a key that is like none',
      { proof: { xyz: 1 } },
      [
        'proof.xyz: is unknown; there are reproduction, commands, testFiles, setup, seconds, repeat',
      ],
    ],
    [
      'keys of nested objects',
      run({ egress: { profil: 'none' } }),
      ['run.egress.profil: is unknown; did you mean profile?'],
    ],
    [
      'a key of another trigger',
      on({ zone: 'UTC' }),
      ['on.zone: is unknown; there are host, repository, event, label, command, where, by, every'],
    ],
    [
      'a path outside',
      {
        proof: {
          setup: { command: 'npm ci', hosts: ['@npn'], paths: ['a', '../b', '/c', 'd/..'] },
        },
      },
      [
        expect.stringMatching(
          /^proof.setup.hosts\[0\]: unknown set of hosts; use one of /,
        ) as never,
        ...[1, 2, 3].map(
          (at) =>
            expect.stringMatching(
              new RegExp(`^proof.setup.paths\\[${at}\\]: .* is not a path below the workspace`),
            ) as never,
        ),
      ],
    ],
    [
      'a word',
      { lane: { busy: 'wait' } },
      ['lane.busy: “wait” is not one of queue, skip, replace'],
    ],
    [
      'an event',
      on({ event: 'pull.opend' }),
      [expect.stringMatching(/^on.event: “pull.opend” is not one of issue.opened, /) as never],
    ],
    [
      'an event of several',
      on({ event: ['push', 'pull.opend'] }),
      [expect.stringMatching(/^on.event\[1\]: “pull.opend” is not one of/) as never],
    ],
    [
      'a type',
      { dry: 'yes', description: 1, trust: [] },
      [
        'description: “1” is not text',
        'trust: a list is not an object',
        'dry: “yes” is not true or false',
      ],
    ],
    [
      'a limit',
      { lane: { attempts: 21, queued: 0 } },
      ['lane.queued: is at least 1', 'lane.attempts: is at most 20'],
    ],
    [
      'a name and an empty text',
      { name: 'Fix CI', run: { task: '', budgets: { dollars: 1 } } },
      [
        expect.stringMatching(
          /^name: “Fix CI” is not valid: a name has lowercase letters/,
        ) as never,
        'run.task: is empty',
      ],
    ],
    [
      'what is missing',
      { run: { budgets: {} }, name: undefined },
      ['name: is missing', 'run.budgets: name dollars or tokens, so that a run has a limit'],
    ],
    [
      'a time',
      { lane: { cooldown: '5 minutes' } },
      ['lane.cooldown: “5 minutes” is not a time such as 90s, 10m, 4h or 2d'],
    ],
    [
      'no trigger',
      { on: { hosts: 'github.com' } },
      ['on: needs one of host, schedule, url, session, hand; did you mean host?'],
    ],
    ['a trigger that is text', { on: 'push' }, ['on: is an object']],
    ['no task', { run: { budgets: { tokens: 1 } } }, ['run: name a task or a template']],
    [
      'a field that the event lacks',
      on({ event: 'checks.failed', where: `title == 'x'` }),
      [
        'on.where: character 1: checks.failed has no field title; it has branch, names, number, sha',
      ],
    ],
    [
      'a field that one event lacks',
      on({ event: ['pull.opened', 'push'], where: `title == 'x'` }),
      ['on.where: character 1: push has no field title; it has branch, sha, user'],
    ],
    [
      'a field of the lane',
      { lane: { key: '{nummer}' } },
      [
        expect.stringMatching(
          /^lane.key: pull.opened has no field nummer; it has author, /,
        ) as never,
      ],
    ],
    [
      'a field of the branch',
      { out: { pullRequest: { branch: 'belay/{salz}' } } },
      [expect.stringMatching(/^out.pullRequest.branch: pull.opened has no field salz/) as never],
    ],
    [
      'a branch name',
      { out: { pullRequest: { branch: '/{salt}' } } },
      ['out.pullRequest.branch: is not a valid branch name'],
    ],
    [
      'a label elsewhere',
      on({ event: ['pull.opened', 'push'], label: 'x' }),
      ['on.label: is for events such as issue.labelled, and not for pull.opened, push'],
    ],
    [
      'a command elsewhere',
      on({ command: 'fix' }),
      ['on.command: is for events such as issue.command, and not for pull.opened'],
    ],
    [
      'a zone',
      { on: { schedule: '0 0 * * *', zone: 'Europe/Berlun' } },
      ['on.zone: “Europe/Berlun” is not a time zone: use one such as Europe/Berlin or UTC'],
    ],
    [
      'a push without a branch',
      { ...on({ event: 'issue.opened' }), out: { push: { branch: 'same' } } },
      ['out.push: needs a branch, and issue.opened has none'],
    ],
    [
      'a review without a pull request',
      { ...on({ event: ['pull.opened', 'issue.opened'] }), out: { review: {}, replies: {} } },
      [
        'out.review: needs a pull request, and issue.opened has none',
        'out.replies: needs a pull request, and issue.opened has none',
      ],
    ],
    [
      'a comment without a place',
      { on: { hand: true }, out: { comment: {}, reaction: true } },
      [
        'out.comment: needs an issue or pull request, and hand has none',
        'out.reaction: needs an issue or pull request, and hand has none',
      ],
    ],
    [
      'a pull request without a repository',
      { on: { schedule: '0 0 * * *' }, out: { pullRequest: {} } },
      ['out.pullRequest: needs a repository: name one as on.repository'],
    ],
    [
      'a month below one run',
      { lane: { dollarsPerMonth: 1 } },
      [
        'lane.dollarsPerMonth: one run may cost $2, so that none could begin: raise it, or lower run.budgets.dollars',
      ],
    ],
  ])('is refused for %s', (_, change, faults) => {
    expect(faultsOf(change)).toEqual(faults);
  });

  it.each([
    ['trust.content: quoted', { content: 'quoted' }],
    ['trust.forks: review', { forks: 'review' }],
  ])('gives strangers no way out with %s', (source, trust) => {
    const egress = { profile: 'packages' };
    const ways = { egress, mcp: ['a'], actions: ['b'], trustFiles: true, approvals: 'auto' };
    const faults = faultsOf({ trust, ...run(ways), out: { push: { branch: 'same' } } });
    expect(faults.map((fault) => fault.split(': ')[0])).toEqual(
      Object.keys(ways).map((way) => `run.${way}`),
    );
    expect(faults[0]).toBe(
      `run.egress: strangers’ text and a way out do not go together: set the profile none, or change ${source}`,
    );
    // Without what leads out, each of the others is allowed.
    expect(faultsOf({ trust, ...run({ approvals: 'auto' }), out: { comment: {} } })).toEqual([]);
    expect(faultsOf({ trust, out: { push: { branch: 'same' }, pullRequest: {} } })).toEqual([]);
  });

  it('is any value, or something with a fault', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), (whole, trigger, part) => {
        for (const value of [
          whole,
          { ...honest, on: trigger },
          { ...honest, lane: part, run: part },
        ]) {
          const { definition, faults } = checkedDefinition(value);
          expect(definition === undefined).toBe(faults.length > 0);
          for (const { message } of faults) expect(message).not.toBe('');
        }
      }),
    );
  });
});
