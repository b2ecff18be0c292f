import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
/** Loaded when it is used: it is built by then. */
const testkit = () => require('../../libs/testkit');
const shows = (...args) => testkit().shows(...args);
const press = (...args) => testkit().press(...args);

/**
 * The pages of the pictures: where each is, and what makes it ready to be taken. `empty` ones are
 * taken before there is a session, `desktop` ones only large.
 */
export const pages = [
  {
    name: 'welcome',
    empty: true,
    path: () => '/',
    ready: (page) => shows(page, 'main', 'Watch the demo'),
  },
  {
    name: 'fleet',
    path: () => '/',
    ready: async (page) => {
      await shows(page, 'main', 'npm publish');
      await shows(page, 'main', 'strict mode');
    },
  },
  {
    name: 'new-session',
    path: () => '/new',
    ready: async (page, { phone }) => {
      await shows(page, 'main', 'Workspace');
      await testkit().fill(
        page,
        'Task',
        'The guide’s search is slow with 10,000 trails. Find out why, and make it answer in 50 ms.',
      );
      if (!phone) await press(page, 'An example');
    },
  },
  {
    name: 'session',
    path: ({ demo }) => `/sessions/${demo}`,
    ready: async (page, { phone }) => {
      await shows(page, 'main', 'rounds to whole minutes');
      if (phone) return;
      await coloured(page);
      await shows(page, '[aria-label="Terminal"] .xterm-rows', '200 OK');
      await picture(page);
    },
  },
  {
    name: 'changes',
    path: ({ demo }) => `/sessions/${demo}?panel=changes`,
    ready: async (page, { phone }) => {
      if (phone) await press(page, 'Changes', 'nav');
      await shows(page, 'main', 'const rest = whole % 60');
      await shows(page, 'main', 'Reject…');
      if (!phone) await picture(page);
    },
  },
  {
    name: 'replay',
    desktop: true,
    path: ({ demo, middle }) => `/sessions/${demo}?at=${middle}`,
    ready: async (page) => {
      await shows(page, '[aria-label="Chat"]', 'Showing event');
      await shows(page, '[aria-label="Terminal"] .xterm-rows', 'ERR_ASSERTION');
      await coloured(page);
    },
  },
  {
    name: 'approval',
    path: ({ publish }) => `/sessions/${publish}`,
    ready: (page) => shows(page, 'main', 'Allow once'),
  },
  {
    name: 'evaluations',
    path: () => '/evaluations',
    ready: (page) => shows(page, 'main', 'human-eval'),
  },
  {
    name: 'evaluation',
    path: () => '/evaluations/sonnet',
    ready: (page) => shows(page, 'main', 'flagged'),
  },
  {
    name: 'trial',
    path: () => '/evaluations/sonnet?task=Own/2&attempt=1',
    ready: (page) => shows(page, 'main', 'AssertionError'),
  },
  {
    name: 'settings',
    path: () => '/settings',
    ready: (page) => shows(page, 'main', 'Notifications'),
  },
  {
    name: 'models',
    path: () => '/settings?section=models',
    ready: (page) => shows(page, 'main', 'No key is set'),
  },
  {
    name: 'budgets',
    path: () => '/settings?section=budgets',
    ready: (page) => shows(page, 'main', 'Most dollars'),
  },
  {
    name: 'network',
    path: () => '/settings?section=network',
    ready: (page) => shows(page, 'main', 'More hosts'),
  },
  {
    name: 'mcp',
    path: () => '/settings?section=mcp',
    ready: (page) => shows(page, 'main', 'tools in use'),
  },
  {
    name: 'rules',
    path: () => '/settings?section=approvals',
    ready: (page) => shows(page, 'main', 'npm test *'),
  },
  {
    name: 'shortcuts',
    desktop: true,
    path: () => '/settings?section=shortcuts',
    ready: (page) => shows(page, 'main', 'Press a shortcut'),
  },
  {
    name: 'doctor',
    path: () => '/doctor',
    ready: (page) => shows(page, 'main', 'Docker'),
  },
  {
    name: 'palette',
    desktop: true,
    path: ({ demo }) => `/sessions/${demo}`,
    ready: async (page) => {
      await coloured(page);
      await page.keyboard.down('Control');
      await page.keyboard.press('k');
      await page.keyboard.up('Control');
      await shows(page, '[role=dialog]', 'New session');
    },
  },
];

/** The editor has the file, in the colours of its language. */
const coloured = (page) =>
  testkit().until(page, () => {
    const words = [...document.querySelectorAll('[aria-label="Code"] .view-line span[class]')];
    return new Set(words.map(({ className }) => className)).size > 3;
  });

const picture = (page) =>
  testkit().until(page, () => {
    const image = document.querySelector('[aria-label="Browser"] img');
    return image?.complete && image.naturalWidth > 0;
  });

/** Plays the demo to its end, and sessions that wait, run and failed beside it. */
export async function playSessions(server) {
  const { start, run } = testkit();
  const play = (name, title, { turns, ...more }) => {
    const file = join(server.data, `${name}.yaml`);
    writeFileSync(file, JSON.stringify({ turns }));
    return start(server, { task: `${title}.`, title, model: `scripted:${file}`, ...more });
  };
  const pattern = { operation: 'terminal.run', pattern: 'npm test *', expires: null };
  await server.client.rules.create({ scope: 'all', verdict: 'approved', ...pattern });
  await server.client.rules.create({
    scope: 'all',
    verdict: 'rejected',
    ...pattern,
    pattern: 'git push --force*',
  });

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
  await testkit().reportRun(server, 'sonnet');
  // A run that goes on says so; the last time is when the server is gone already.
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
    transport: { type: 'stdio', command: 'node', args: ['libs/testkit/mcp-server.mjs'], env: {} },
  });
  const edited = demo.events.find(
    (event) => event.action === 'result' && event.args.operation === 'files.edit',
  );
  return { demo: demo.id, publish: publish.id, middle: edited.seq };
}
