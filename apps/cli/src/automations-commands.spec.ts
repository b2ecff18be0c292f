import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  automationDefinition,
  type AutomationInfo,
  type AutomationRun,
  type ForgeSourceInfo,
  type RunExplanation,
} from '@belay/protocol';
import { createProgram } from './program.js';

const at = '2026-01-02T03:04:00.000Z';
const run: AutomationRun = {
  id: 'r2',
  automation: 'fix-issue',
  version: 3,
  event: 'issue.labelled',
  key: 'label:12:belay',
  lane: '#12',
  subject: '#12',
  state: 'done',
  code: 'published',
  why: 'The reproduction is confirmed.',
  session: 's1',
  dollars: 1.25,
  check: null,
  pullRequest: {
    url: 'https://a.internal/acme/api/pulls/3',
    number: 3,
    into: 'https://a.internal/acme/api',
  },
  created: at,
  started: at,
  ended: at,
};
const skipped: AutomationRun = {
  ...run,
  id: 'r1',
  state: 'skipped',
  code: 'stuck',
  why: 'The second try on #12 changed nothing.',
  session: null,
  dollars: 0,
  pullRequest: null,
};
const explanation: RunExplanation = {
  run,
  occurrence: { event: 'issue.labelled', key: 'label:12:belay', at, actor: null, label: 'belay' },
  findings: {
    actor: { id: '99', name: 'ada', isBot: false },
    permission: 'write',
    sha: 'c'.repeat(40),
    branch: 'main',
    base: null,
    isFork: false,
    title: 'Crash\u001b[2J on start',
    texts: [
      {
        kind: 'issue',
        author: '7',
        level: 'read',
        sha256: 'a'.repeat(64),
        used: 'quoted',
        removed: 2,
      },
      {
        kind: 'comment',
        author: '8',
        level: 'none',
        sha256: 'b'.repeat(64),
        used: 'left-out',
        removed: 0,
      },
    ],
  },
  decisions: [
    { check: 'permission', holds: true, why: 'ada may write.' },
    { check: 'month', holds: false, why: '$50.00 of $50.00 are spent.' },
  ],
  outgoing: [
    {
      kind: 'pull',
      target: 'belay/12-k3',
      state: 'sent',
      url: 'https://a.internal/3',
      why: null,
      at,
    },
    {
      kind: 'comment',
      target: '#12',
      state: 'refused',
      url: null,
      why: 'It holds the token of a.internal.',
      at,
    },
  ],
};
const automation: AutomationInfo = {
  name: 'fix-issue',
  version: 3,
  state: 'on',
  why: null,
  owner: 'owner',
  file: null,
  definition: automationDefinition.parse({
    name: 'fix-issue',
    on: { host: 'a.internal', repository: 'acme/api', event: 'issue.labelled', label: 'belay' },
    run: { task: 'Fix it.', budgets: { dollars: 2 } },
    out: { pullRequest: {} },
  }),
  nextAt: null,
  latest: [run, skipped],
  waiting: 1,
  dollarsThisMonth: 1.25,
  created: at,
  updated: at,
};
const source: ForgeSourceInfo = {
  id: 'f1',
  host: 'a.internal',
  repository: 'acme/api',
  self: 'belay-bot',
  webhook: false,
  hookUrl: null,
  trustedBy: null,
  problem: null,
};
const job = {
  name: 'fix-issue',
  description: 'Fixes issues.',
  text: 'name: fix-issue\non:\n  host: github.com\n  repository: OWNER/NAME\n  event: issue.opened\n',
};
const wrong = {
  path: 'lane.busy',
  message: '“wait” is not one of queue, skip, replace.',
  line: 7,
  column: 12,
};

describe('belay automations', () => {
  const folder = mkdtempSync(join(tmpdir(), 'belay-automations-'));
  const file = join(folder, 'fix-ci.yaml');
  const requests: string[] = [];
  const bodies: unknown[] = [];
  let answers: Record<string, unknown>;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => (body += String(piece)));
    request.on('end', () => {
      const asked = `${request.method} ${request.url}`;
      requests.push(asked);
      if (body) bodies.push(JSON.parse(body));
      if (!(asked in answers)) return response.writeHead(204).end();
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answers[asked]));
    });
  });

  beforeAll(async () => {
    process.env.BELAY_TOKEN = 'token';
    writeFileSync(file, 'name: fix-ci\n');
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  });
  afterAll(() => {
    delete process.env.BELAY_TOKEN;
    rmSync(folder, { recursive: true });
    server.close();
    server.closeAllConnections();
  });
  beforeEach(() => {
    requests.length = 0;
    bodies.length = 0;
    answers = {
      'GET /api/automations': [automation],
      'GET /api/automations/fix-issue': automation,
      'GET /api/automations/fix-issue/runs?limit=30': [run, skipped],
      'GET /api/automation-sources': [source],
      'GET /api/automation-jobs': [job],
      'GET /api/automation-runs/r2': explanation,
      'POST /api/automations': automation,
      'POST /api/automations/check': {
        problems: [],
        warnings: [],
        next: [at],
        schedule: 'at 03:04 (UTC)',
      },
      'POST /api/automation-sources': { ...source, secret: 'sesame' },
      'POST /api/automations/fix-issue/run': explanation,
    };
  });

  /** What a command prints, and its exit code. */
  async function belay(...args: string[]): Promise<{ code: number; said: string }> {
    const said: string[] = [];
    const keep = (text: unknown) => said.push(String(text)) > 0;
    jest.spyOn(process.stdout, 'write').mockImplementation(keep);
    jest.spyOn(process.stderr, 'write').mockImplementation(keep);
    let code = 0;
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const program = createProgram((ended) => (code = ended));
    try {
      await program.parseAsync(['automations', ...args, '--url', url], { from: 'user' });
    } finally {
      jest.restoreAllMocks();
    }
    return { code, said: said.join('') };
  }

  it('are listed in a line each, with marks of their runs and their money', async () => {
    const { said } = await belay('list');
    expect(said).toMatch(
      /^fix-issue +on +–✓ +\$1\.25 of \$50\.00 +issue\.labelled belay in a\.inter.*1 waiting\n$/,
    );
    const json = JSON.parse((await belay('list', '--json')).said) as unknown;
    expect(json).toMatchObject([{ name: 'fix-issue' }]);
  });

  it('without any, it says how to begin', async () => {
    answers['GET /api/automations'] = [];
    expect((await belay('list')).said).toContain('belay automations jobs');
  });

  it('show whom they trust and what they may send', async () => {
    const { said } = await belay('show', 'fix-issue');
    expect(said).toContain('whoever has the permission write; leaves texts of others out');
    expect(said).toContain('may send   pullRequest');
  });

  it('have a history of runs and decisions', async () => {
    const { said } = await belay('history', 'fix-issue');
    expect(said).toMatch(/^r2 .*✓ done, published +#12 +\$1\.25 +https:/m);
    expect(said).toMatch(/^r1 .*– skipped, stuck +#12 .*changed nothing/m);
  });

  it('have deliveries, with the runs that they began or the reason why not', async () => {
    const one = { id: 'd2', transport: 'poll', event: 'issue.labelled', at, state: 'done' };
    const other = { ...one, id: 'd1', transport: 'url', event: 'url', state: 'ignored' };
    const asked = 'GET /api/automations/fix-issue/deliveries?limit=30';
    answers[asked] = [
      { ...one, why: null, runs: ['r2', 'r1'] },
      { ...other, why: 'No automation fits.', runs: [] },
    ];
    const { said } = await belay('deliveries', 'fix-issue');
    expect(said).toMatch(/^d2 .* ago +issue\.labelled by poll +taken up +r2, r1$/m);
    expect(said).toMatch(/^d1 .* ago +url +ignored +No automation fits\.$/m);
    answers[asked] = [];
    expect((await belay('deliveries', 'fix-issue')).said).toBe('Nothing was delivered yet.\n');
  });

  it('explain a run from what happened to what was sent, and nothing in it moves the cursor', async () => {
    const { said } = await belay('explain', 'r2');
    const order = [
      'an issue was labelled: #12 “Crash',
      'By ada (99), whose permission is write.',
      'On main at cccccccccccc.',
      '✓ issue by 7 (read): quoted as data, 2 hidden parts removed',
      '✗ comment by 8 (none): left out',
      '✓ permission: ada may write.',
      '✗ month: $50.00 of $50.00 are spent.',
      'done, published: The reproduction is confirmed.',
      'Session s1, $1.25. Its log: belay log s1',
      'Pull request https://a.internal/acme/api/pulls/3',
      '✓ pull belay/12-k3: https://a.internal/3',
      '✗ comment #12: refused, It holds the token of a.internal.',
    ];
    const places = order.map((text) => said.indexOf(text));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(said).not.toContain('\u001b[2J');
  });

  it('are checked with the place of every problem', async () => {
    expect(await belay('check', file)).toMatchObject({
      code: 0,
      said: expect.stringMatching(
        /^fix-ci\.yaml is a correct automation\.\nIt runs at 03:04 \(UTC\)\. .*:\n {2}Jan 2, 2026, .+\n$/,
      ),
    });
    answers['POST /api/automations/check'] = {
      problems: [wrong],
      warnings: [],
      next: [],
      schedule: null,
    };
    expect(await belay('check', file)).toEqual({
      code: 1,
      said: 'fix-ci.yaml:7:12 lane.busy: “wait” is not one of queue, skip, replace.\n',
    });
    // What is wrong is not sent to be added.
    expect((await belay('add', file)).code).toBe(1);
    expect(requests).not.toContain('POST /api/automations');
  });

  it('are added from a file, or from a job for a repository', async () => {
    expect((await belay('add', file)).said).toContain(
      'belay automations connect a.internal/acme/api',
    );
    expect(bodies.at(-1)).toEqual({ text: 'name: fix-ci\n', file: 'fix-ci.yaml' });
    await belay(
      'add',
      '--job',
      'fix-issue',
      '--repository',
      'https://git.internal/x/y.git',
      '--name',
      'mine',
    );
    expect(bodies.at(-1)).toEqual({
      file: 'mine.yaml',
      text: 'name: mine\non:\n  host: git.internal\n  repository: x/y\n  event: issue.opened\n',
    });
    await expect(belay('add', '--job', 'fix-issue')).rejects.toMatchObject({
      message: expect.stringContaining('--repository github.com/acme/api'),
    });
    await expect(belay('add', '--job', 'none')).rejects.toMatchObject({ code: 'not_found' });
    await expect(belay('add')).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('have a URL, with a request that it takes', async () => {
    const on = { url: true, key: 'alert.id' };
    const alert = { ...automation, definition: { ...automation.definition, on } };
    answers['GET /api/automations/fix-issue'] = alert;
    answers['POST /api/automations/fix-issue/secret'] = { url: 'https://b.test/x', secret: 's' };
    const { said } = await belay('secret', 'fix-issue');
    expect(said).toContain(`--json '{"alert":{"id":"request-1"}}'`);
  });

  it('say where to look for what becomes of a run', async () => {
    const queued = { ...explanation, run: { ...run, state: 'queued', event: 'hand' } };
    answers['POST /api/automations/fix-issue/run'] = queued;
    const { said } = await belay('run', 'fix-issue', '--number', '12');
    expect(said).toContain('a user began it, on #12');
    expect(said).toMatch(/To see what becomes of it: belay automations explain r2\n$/);
  });

  it('are not made of an empty file, or one that is not there', async () => {
    const empty = join(folder, 'empty.yaml');
    writeFileSync(empty, '\n');
    await expect(belay('check', empty)).rejects.toMatchObject({
      message: expect.stringContaining('empty.yaml is empty.'),
    });
    await expect(belay('check', join(folder, 'none.yaml'))).rejects.toMatchObject({
      message: expect.stringMatching(/^There is no file /),
    });
    expect(requests).toEqual([]);
  });

  it('begin by hand, and a refused run is a failure', async () => {
    expect((await belay('run', 'fix-issue', '--number', '12', '--dry')).code).toBe(0);
    expect(bodies.at(-1)).toEqual({ number: 12, dry: true });
    const refused = { ...explanation, run: { ...skipped, state: 'refused' } };
    answers['POST /api/automations/fix-issue/run'] = refused;
    expect((await belay('run', 'fix-issue')).code).toBe(1);
  });

  it('are removed only if the user confirms', async () => {
    await expect(belay('remove', 'fix-issue')).rejects.toMatchObject({
      message: expect.stringContaining('--yes'),
    });
    expect(requests).toEqual(['GET /api/automations/fix-issue']);
    expect((await belay('remove', 'fix-issue', '--yes')).said).toContain('Removed fix-issue.');
    expect(requests).toContain('DELETE /api/automations/fix-issue');
  });

  it('follow repositories, and say how events arrive', async () => {
    expect((await belay('connect', 'a.internal/acme/api')).said).toContain('found by polling');
    expect(bodies.at(-1)).toEqual({ host: 'a.internal', repository: 'acme/api' });
    const hookUrl = 'https://belay.internal/hooks/git/f1';
    answers['POST /api/automation-sources'] = { ...source, hookUrl, secret: 'sesame' };
    const { said } = await belay('connect', 'https://a.internal/acme/api', '--trust-files');
    expect(said).toContain(hookUrl);
    expect(said).toContain('sesame');
    expect(bodies.at(-1)).toMatchObject({ trustFiles: true });
    expect((await belay('sources')).said).toMatch(/^a\.internal\/acme\/api +polling +as belay-bot/);
    await belay('disconnect', 'a.internal/acme/api', '--yes');
    expect(requests.at(-1)).toBe('DELETE /api/automation-sources/f1');
    await expect(belay('connect', 'acme')).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('are edited in an editor only at a terminal', async () => {
    answers['GET /api/automations/fix-issue/yaml'] = {};
    await expect(belay('edit', 'fix-issue')).rejects.toMatchObject({
      message: expect.stringContaining('a file with the new definition'),
    });
    answers['PUT /api/automations/fix-issue'] = automation;
    expect((await belay('edit', 'fix-issue', file)).said).toContain('Saved version 3');
  });
});
