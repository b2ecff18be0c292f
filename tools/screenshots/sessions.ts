import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NewSession } from '@belay/protocol';
import {
  belay,
  reportRun,
  run,
  start,
  type BelayServer,
  type Followed,
  type Turn,
} from '@belay/testkit';

/** Ids of the sessions that pages show, and an event in the middle of the demo's log. */
export interface PlayedSessions {
  demo: string;
  publish: string;
  comparison: string;
  middle: number;
}

type Script = Partial<NewSession> & { turns: Turn[] };

/** Plays the demo to its end, and sessions that wait, run and failed beside it. */
export async function playSessions(server: BelayServer): Promise<PlayedSessions> {
  const play = (name: string, title: string, { turns, ...more }: Script): Promise<Followed> => {
    const file = join(server.data, `${name}.yaml`);
    writeFileSync(file, JSON.stringify({ turns }));
    return start(server, { task: `${title}.`, title, model: `scripted:${file}`, ...more });
  };
  const rule = { scope: 'all', operation: 'terminal.run', expires: null } as const;
  const { rules } = server.client;
  await rules.create({ ...rule, verdict: 'approved', pattern: 'npm test *' });
  await rules.create({ ...rule, verdict: 'rejected', pattern: 'git push --force*' });

  const demo = await start(server, {
    task: 'The tests of this hiking guide fail. Find out why and fix it.',
    title: 'Fix the failing test',
    workspace: 'example:fix-failing-test',
    model: 'scripted:example:fix-failing-test',
    tags: ['demo'],
  });
  const failing = play('budget', 'Count every word of the archive', {
    budgets: { steps: 2 },
    turns: [
      { calls: [run('ls -R /usr/share/doc | wc -l')] },
      { calls: [run('wc -w /etc/passwd')] },
      { finish: 'Counted.' },
    ],
  });
  const publish = await play('publish', 'Publish version 2.1', {
    approvals: 'ask',
    tags: ['release'],
    turns: [
      {
        say: 'The changelog and the version are right, and the tests pass. What is left is to publish it as `next`.',
        calls: [run('npm publish --tag next')],
      },
      { finish: 'Published.' },
    ],
  });
  const asking = await play('typescript', 'Move the guide to TypeScript', {
    turns: [
      {
        calls: [
          {
            operation: 'ask',
            input: {
              question: 'Should strict mode be on from the first commit?',
              options: ['Yes', 'Not yet'],
            },
          },
        ],
      },
      { finish: 'Moved.' },
    ],
  });
  const running = await play('profile', 'Measure the start-up time', {
    tags: ['release'],
    turns: [
      {
        calls: [
          run(
            'for i in $(seq 1 500); do printf "run %d: %d ms\\n" $i $((180 + RANDOM % 40)); sleep 2; done',
          ),
        ],
      },
      { finish: 'Measured.' },
    ],
  });
  const models = ['round', 'floor'].map((name) => {
    const file = join(server.data, `${name}.yaml`);
    const content = `export const minutes = (seconds) => Math.${name}(seconds / 60);\n`;
    const turns = [
      { calls: [{ operation: 'files.write', input: { path: 'minutes.mjs', content } }] },
      { finish: `Times are given in whole minutes now, by Math.${name}.` },
    ];
    writeFileSync(file, JSON.stringify({ turns }));
    return `scripted:${file}` as const;
  });
  const compared = await server.client.comparisons.create({
    task: 'Give the time of a hike in minutes, rounded to the nearest one.',
    models,
    check: 'grep -q Math.round minutes.mjs',
  });
  await reportRun(server, 'sonnet');
  // A live run reports itself regularly; the last report finds no server any more.
  const beat = () =>
    server.client.evaluations.report('sonnet', { epoch: 1 }).catch(() => undefined);
  setInterval(() => void beat(), 10_000).unref();
  await demo.finished();
  await (await failing).ended();
  await publish.state('waiting');
  await asking.state('waiting');
  await running.until(() => running.terminal().includes('run 1'));
  await server.client.mcp.create({
    name: 'workshop',
    transport: {
      type: 'stdio',
      command: 'node',
      args: ['libs/testkit/mcp-server.mjs'],
      env: {},
      host: true,
    },
  });
  await server.client.viewerLinks.create(demo.id, {
    label: 'Design review',
    expires: new Date(Date.now() + 7 * 24 * 3_600_000).toISOString(),
  });
  const examples = ['morse', 'roll_dice', 'statistics'];
  await belay(server.data, ['actions', 'install', 'examples/actions', ...examples]);
  const { tokens, users } = server.client;
  await tokens.create({ label: 'Nightly benchmark', scope: 'operate', sessions: 'own' });
  const expires = new Date(Date.now() + 30 * 24 * 3_600_000).toISOString();
  await tokens.create({ label: 'Wall screen', scope: 'view', sessions: 'all', expires });
  await users.create({ name: 'ada', password: 'a long enough password', scope: 'operate' });
  const edited = demo.events.find(
    (event) => event.action === 'result' && event.args.operation === 'files.edit',
  );
  return {
    demo: demo.id,
    publish: publish.id,
    comparison: compared.id,
    middle: edited?.seq ?? 0,
  };
}
