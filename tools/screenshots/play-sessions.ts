import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NewSession } from '@belay/protocol';
import {
  belay,
  reportSampleRun,
  run,
  start,
  type BelayServer,
  type Followed,
  type Turn,
} from '@belay/testkit';
import { playAutomations, type PlayedAutomations } from './play-automations.ts';

/** Ids of the sessions that pages show, and an event in the middle of the demo’s log. */
export interface PlayedSessions extends PlayedAutomations {
  demo: string;
  publish: string;
  comparison: string;
  middle: number;
}

type Script = Partial<NewSession> & { title: string; turns: Turn[] };

/**
 * Sessions besides the demo: one that fails, two that wait for the user, one that keeps running.
 */
const scripts = {
  budget: {
    title: 'Count every word of the archive',
    budgets: { steps: 2 },
    turns: [
      { calls: [run('ls -R /usr/share/doc | wc -l')] },
      { calls: [run('wc -w /etc/passwd')] },
      { finish: 'Counted.' },
    ],
  },
  publish: {
    title: 'Publish version 2.1',
    approvals: 'ask',
    tags: ['release'],
    turns: [
      {
        say: 'The changelog and the version are right, and the tests pass. What is left is to publish it as `next`.',
        calls: [run('npm publish --tag next')],
      },
      { finish: 'Published.' },
    ],
  },
  typescript: {
    title: 'Move the guide to TypeScript',
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
  },
  profile: {
    title: 'Measure the start-up time',
    tags: ['release'],
    turns: [
      {
        calls: [
          run(
            'for i in $(seq 1 500); do printf "run %d: %d ms\\n" $i $((180 + RANDOM % 40)); sleep 2; done',
            { wait: 3_600 },
          ),
        ],
      },
      { finish: 'Measured.' },
    ],
  },
} satisfies Record<string, Script>;

/** Plays the demo to its end, along with sessions that wait, run or fail. */
export async function playSessions(server: BelayServer): Promise<PlayedSessions> {
  const play = (name: keyof typeof scripts): Promise<Followed> => {
    const { turns, ...session }: Script = scripts[name];
    const model = scriptFile(server, name, turns);
    return start(server, { task: `${session.title}.`, model, ...session });
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
  const failing = play('budget');
  const publish = await play('publish');
  const asking = await play('typescript');
  const running = await play('profile');
  const compared = await compareRoundings(server);
  await reportSampleRun(server, 'sonnet');
  // A live run reports itself regularly; the last report fails because the server has ended.
  const beat = () =>
    server.client.evaluations.report('sonnet', { epoch: 1 }).catch(() => undefined);
  setInterval(() => void beat(), 10_000).unref();
  await demo.finished();
  await (await failing).ended();
  await publish.state('waiting');
  await asking.state('waiting');
  await running.until(() => running.terminal().includes('run 1'));
  const automations = await playAutomations(server);
  await fillSettings(server);
  await server.client.viewerLinks.create(demo.id, {
    label: 'Design review',
    expires: inDays(7),
  });
  const edited = demo.events.find(
    (event) => event.action === 'result' && event.args.operation === 'files.edit',
  );
  return {
    ...automations,
    demo: demo.id,
    publish: publish.id,
    comparison: compared.id,
    middle: edited?.seq ?? 0,
  };
}

/** Compares two models, one of which gives the right answer. */
function compareRoundings(server: BelayServer) {
  const models = ['round', 'floor'].map((name) => {
    const content = `export const minutes = (seconds) => Math.${name}(seconds / 60);\n`;
    return scriptFile(server, name, [
      { calls: [{ operation: 'files.write', input: { path: 'minutes.mjs', content } }] },
      { finish: `Times are given in whole minutes now, by Math.${name}.` },
    ]);
  });
  return server.client.comparisons.create({
    task: 'Give the time of a hike in minutes, rounded to the nearest one.',
    models,
    check: 'grep -q Math.round minutes.mjs',
  });
}

/** Creates an MCP server, actions, tokens and a user. */
async function fillSettings({ client, data }: BelayServer): Promise<void> {
  await client.mcp.create({
    name: 'workshop',
    transport: {
      type: 'stdio',
      command: 'node',
      args: ['libs/testkit/mcp-server.mjs'],
      env: {},
      host: true,
    },
  });
  const examples = ['morse', 'roll_dice', 'statistics'];
  await belay(data, ['actions', 'install', 'examples/actions', ...examples]);
  const { tokens, users } = client;
  await tokens.create({ label: 'Nightly benchmark', scope: 'operate', sessions: 'own' });
  await tokens.create({
    label: 'Wall screen',
    scope: 'view',
    sessions: 'all',
    expires: inDays(30),
  });
  await users.create({ name: 'ada', password: 'a long enough password', scope: 'operate' });
}

function scriptFile({ data }: BelayServer, name: string, turns: Turn[]) {
  const file = join(data, `${name}.yaml`);
  writeFileSync(file, JSON.stringify({ turns }));
  return `scripted:${file}` as const;
}

const inDays = (days: number): string => new Date(Date.now() + days * 24 * 3_600_000).toISOString();
