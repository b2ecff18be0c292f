import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  canonicalDigest,
  canonicalJson,
  chainDigest,
  chainFields,
  chainStart,
  contentDigest,
  ObservedLog,
  inEnvelope,
  newSigningKey,
  signingKey,
} from '@belay/proof';
import {
  agentChangeType,
  newEvent,
  sessionSettings,
  statementMediaType,
  statementType,
  type AgentTrace,
  type AgentTraceContent,
  type ChangeRecord,
  type ChangeStatement,
  type PublishedKey,
  type StatedAutomation,
  type StoredLogRecord,
} from '@belay/protocol';
import { sampled } from '@belay/testing';
import { createProgram } from '../program.js';

const script = resolve(__dirname, '../../../../examples/verify.py');
const folder = mkdtempSync(join(tmpdir(), 'belay-verify-'));
const repo = join(folder, 'repo');
const [created, made] = ['2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'] as const;
const { published, secret } = newSigningKey();
const other = '1'.repeat(40);
const otherDigest = '2'.repeat(64);
const traced: AgentTraceContent = {
  version: '0.1.0',
  id: '00000000-0000-4000-8000-000000000000',
  timestamp: made,
  tool: { name: 'belay', version: '0.1.0' },
  files: [
    {
      path: 'b',
      conversations: [
        {
          contributor: { type: 'ai', model_id: 'openai/gpt-5' },
          ranges: [{ start_line: 1, end_line: 3 }],
        },
        { contributor: { type: 'human' }, ranges: [{ start_line: 4, end_line: 4 }] },
      ],
    },
  ],
  metadata: {
    'io.belay': { attribution: 'steps', why: null, left_out: [], left_out_files: 2 },
  },
};
let record: ChangeRecord;
let log: string[];

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-C', repo, ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: folder },
  }).toString();
const at = (name: string, content: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

/** Three events of a session as a server publishes them. */
function storedLog(): string[] {
  const settings = sessionSettings.parse({ task: 'Fix “ä”', model: 'scripted:x' });
  const events = [
    newEvent('user', 'start', { args: settings, message: 'Fix' }),
    newEvent('server', 'stalled', { args: { seconds: 1 }, message: 'One\u2028line' }),
    newEvent('user', 'stop', { args: {}, message: '' }),
  ];
  let digest = chainStart('s', created);
  const records = events.map(({ source, action, args, message }, index) => {
    const row = { session: 's', seq: index + 1, time: made, source, action, message };
    const stored = { ...row, args: JSON.stringify(args), call: null, epoch: null, n: null };
    digest = chainDigest(digest, contentDigest(chainFields.map((field) => stored[field])));
    return { ...stored, digest };
  });
  const end = { algorithm: 'belay-log-1', session: 's', created, seq: 3, head: digest };
  return [{ ...end, chainedFrom: 1 }, ...records].map((line) => JSON.stringify(line));
}

/** The commits so far, by what they are about. */
const commits = new Map<string, string>();

function commitOf(said: ChangeRecord): string {
  const digest = canonicalDigest(said);
  const message = `m\n\nBelay-Session: s\nBelay-Evidence: sha256:${digest}`;
  const { tree, parent } = said.change;
  const made =
    commits.get(digest) ??
    git('commit-tree', tree.gitTree, '-p', parent.gitCommit, '-m', message).trim();
  commits.set(digest, made);
  return made;
}

const statementOf = (said: ChangeRecord, commit: string): ChangeStatement => ({
  _type: statementType,
  subject: [
    { name: 'git', digest: { gitCommit: commit } },
    { name: 'tree', digest: said.change.tree },
  ],
  predicateType: agentChangeType,
  predicate: { ...said, record: { sha256: canonicalDigest(said) } },
});

const signed = (statement: object) =>
  inEnvelope(
    statementMediaType,
    Buffer.from(canonicalJson(statement)),
    signingKey(published.kid, secret),
  );

function automationOf({ predicate: { automation } }: ChangeStatement): StatedAutomation {
  if (!automation) throw new Error('It names no automation.');
  return automation;
}

function conversationOf([file]: AgentTrace['files']) {
  const [conversation] = file?.conversations ?? [];
  if (!conversation) throw new Error('It has no lines.');
  return conversation;
}

function rangeOf(files: AgentTrace['files']) {
  const [range] = conversationOf(files).ranges;
  if (!range) throw new Error('It has no lines.');
  return range;
}

/** By the command and by the script, which must agree. */
async function verify(
  envelope: object,
  { keys = [published], lines }: { keys?: PublishedKey[]; lines?: string[] } = {},
): Promise<{ code: number; said: string }> {
  const files = [at('envelope.json', envelope), at('keys.json', { keys }), repo];
  const logFile = lines && at('log.jsonl', `${lines.join('\n')}\n`);
  const result = await run([
    files[0] ?? '',
    '--keys',
    files[1] ?? '',
    ...(logFile ? ['--log', logFile] : []),
  ]);
  const python = spawnSync('python3', [script, ...files, ...(logFile ? [logFile] : [])]);
  expect({ ...result, python: python.status, errors: python.stderr.toString() }).toMatchObject({
    python: result.code,
  });
  return result;
}

async function run(args: string[]): Promise<{ code: number; said: string }> {
  const said: string[] = [];
  const write = (text: string | Uint8Array) => said.push(String(text)) > 0;
  const spies = [process.stdout, process.stderr].map((stream) =>
    jest.spyOn(stream, 'write').mockImplementation(write),
  );
  let code = -1;
  try {
    const program = createProgram((given) => (code = given));
    await program.parseAsync(['node', 'belay', 'verify', ...args, '--repo', repo]);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return { code, said: said.join('') };
}

beforeAll(() => {
  execFileSync('git', ['init', '-q', '-b', 'main', '--template=', repo]);
  writeFileSync(join(repo, 'a'), 'a');
  git('add', 'a');
  git('commit', '-q', '-m', 'first');
  const parent = git('rev-parse', 'HEAD').trim();
  writeFileSync(join(repo, 'b'), 'b');
  git('add', 'b');
  const tree = git('write-tree').trim();
  const list = git('diff-tree', '-r', '-z', '--no-abbrev', '--no-renames', parent, tree);
  log = storedLog();
  const rows = log.slice(1).map((line) => JSON.parse(line) as StoredLogRecord);
  const observed = new ObservedLog();
  for (const row of rows) observed.add(row);
  record = {
    version: 1,
    server: null,
    belay: '0.1.0',
    made,
    change: {
      repository: 'https://git.example.com/a/b',
      branch: 'x',
      base: { gitCommit: parent },
      parent: { gitCommit: parent },
      tree: { gitTree: tree },
      changes: { sha256: createHash('sha256').update(list).digest('hex') },
      files: 1,
      ciFiles: [],
    },
    session: { id: 's', created },
    log: { algorithm: 'belay-log-1', seq: 3, head: rows.at(-1)?.digest ?? '', chainedFrom: 1 },
    image: { name: 'node', id: null },
    observed: observed.result,
    reruns: null,
    trace: { sha256: canonicalDigest(traced) },
    automation: {
      name: 'fix-ci',
      version: 3,
      run: 'r1',
      event: 'checks.failed',
      actor: { id: '99', name: 'ada' },
    },
  };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('belay verify', () => {
  it('says what holds, of a commit, its statement and its log', async () => {
    const commit = commitOf(record);
    const { code, said } = await verify(signed(statementOf(record, commit)), { lines: log });
    expect(said).toContain(`The statement about the commit ${commit} holds.`);
    expect(said).toContain(published.kid);
    expect(said).toContain('up to event 3. It says what the statement says.');
    expect(said).toContain('The server has not run the change again.');
    expect(said).toContain('Its trace of lines was not checked');
    expect(said).toContain(
      'The automation fix-ci (version 3) published it in its run r1, which began with checks.failed of ada (99).',
    );
    expect(code).toBe(0);
  });

  it('names no automation where none published', async () => {
    const { automation: _, ...plain } = record;
    const { code, said } = await verify(signed(statementOf(plain, commitOf(plain))));
    expect([code, said]).toEqual([0, expect.not.stringContaining('automation')]);
  });

  /** Every field of the statement, changed by someone without the key. */
  const fields: [string, (said: ChangeStatement) => unknown][] = [
    ['the commit', (one) => (one.subject[0].digest.gitCommit = other)],
    ['the repository', (one) => (one.subject[0].name = 'git+https://evil.example')],
    ['the tree', (one) => (one.subject[1].digest.gitTree = other)],
    ['the record', (one) => (one.predicate.record.sha256 = otherDigest)],
    ['the parent', (one) => (one.predicate.change.parent.gitCommit = other)],
    ['the base', (one) => (one.predicate.change.base.gitCommit = other)],
    ['the changes', (one) => (one.predicate.change.changes.sha256 = otherDigest)],
    ['the session', (one) => (one.predicate.session.id = 'other')],
    ['the head', (one) => (one.predicate.log.head = otherDigest)],
    ['the end', (one) => (one.predicate.log.seq = 2)],
    ['what was chained later', (one) => (one.predicate.log.chainedFrom = 2)],
    ['the task', (one) => (one.predicate.observed.task.sha256 = otherDigest)],
    ['the mode', (one) => (one.predicate.observed.approvals.mode = 'safe')],
    ['the hosts', (one) => one.predicate.observed.egress.hosts.push('a:1')],
    ['the image', (one) => (one.predicate.image.id = 'sha256:1')],
    ['the budgets', (one) => (one.predicate.observed.budgets.steps.used = 7)],
    ['the reruns', (one) => (one.predicate.reruns = reruns)],
    ['the automation', (one) => delete one.predicate.automation],
    ['its name', (one) => (automationOf(one).name = 'nightly')],
    ['its version', (one) => (automationOf(one).version = 4)],
    ['its run', (one) => (automationOf(one).run = 'r2')],
    ['its event', (one) => (automationOf(one).event = 'hand')],
    ['its actor', (one) => (automationOf(one).actor = null)],
    ['the trace', (one) => (one.predicate.trace = { sha256: otherDigest })],
    ['the time', (one) => (one.predicate.made = created)],
  ];
  const reruns: ChangeRecord['reruns'] = {
    image: { name: 'node', id: 'sha256:1' },
    claims: [{ claim: 'check', verdict: 'confirmed', why: '', command: 'npm test', runs: [] }],
  };

  it.each(sampled(3, fields))('refuses another text than the signed one: %s', async (_, forge) => {
    const statement = statementOf(record, commitOf(record));
    const envelope = signed(statement);
    const forged = structuredClone(statement);
    forge(forged);
    const payload = Buffer.from(canonicalJson(forged)).toString('base64');
    const { code, said } = await run([
      at('envelope.json', { ...envelope, payload }),
      '--keys',
      at('keys.json', { keys: [published] }),
    ]);
    expect([code, said]).toEqual([1, 'It does not hold: The signature is not of this text.\n']);
  });

  /** Even with the key, a statement must be what git and the log say. */
  const otherThanCommit: [string, (said: ChangeRecord) => unknown, string][] = [
    [
      'tree',
      ({ change }) => (change.tree.gitTree = git('rev-parse', 'HEAD^{tree}').trim()),
      'has another tree',
    ],
    ['branch', ({ change }) => (change.branch = 'y'), 'names another record'],
    ['parent', ({ change }) => (change.parent.gitCommit = other), 'has another parent'],
    ['changes', ({ change }) => (change.changes.sha256 = otherDigest), 'changes other files'],
    ['automation', (said) => delete said.automation, 'names another record'],
  ];
  it.each(sampled(4, otherThanCommit))(
    'refuses another %s than that of the commit',
    async (_, forge, why) => {
      const commit = commitOf(record);
      const forged = structuredClone(record);
      forge(forged);
      const { code, said } = await verify(signed(statementOf(forged, commit)));
      expect([code, said]).toEqual([1, expect.stringContaining(why)]);
    },
  );

  const otherLogs: [string, (said: ChangeRecord) => unknown, string][] = [
    [
      'head',
      (said) => (said.log.head = otherDigest),
      'The log is not the one that the statement saw',
    ],
    ['later end', (said) => (said.log.seq = 9), 'The log ends at 3; the statement saw 9'],
    ['earlier end', (said) => (said.log.seq = 2), 'The log is not the one that the statement saw'],
  ];
  it.each(sampled(2, otherLogs))('refuses a log with another %s', async (_, forge, why) => {
    const forged = structuredClone(record);
    forge(forged);
    const { code, said } = await verify(signed(statementOf(forged, commitOf(forged))), {
      lines: log,
    });
    expect([code, said]).toEqual([1, expect.stringContaining(why)]);
  });

  /** By who has no key: what the server serves, and what a file has. */
  const traces: [string, (trace: AgentTrace) => unknown, string?][] = [
    ['range', ({ files }) => (rangeOf(files).end_line = 4)],
    ['commit', ({ vcs }) => (vcs.revision = other), 'The trace is about commit 111111111111'],
    ['contributor', ({ files }) => (conversationOf(files).contributor = { type: 'human' })],
    ['model', ({ files }) => (conversationOf(files).contributor.model_id = 'x/y')],
    ['path', ({ files }) => files.forEach((file) => (file.path = 'c'))],
    ['set of files', ({ files }) => files.pop()],
    ['account of what it leaves out', ({ metadata }) => (metadata['io.belay'].left_out_files = 0)],
    ['time', (trace) => (trace.timestamp = created)],
  ];
  const withTrace = (said: ChangeRecord, forge: (trace: AgentTrace) => unknown = () => 0) => {
    const commit = commitOf(said);
    const trace: AgentTrace = {
      ...structuredClone(traced),
      vcs: { type: 'git', revision: commit },
    };
    forge(trace);
    const envelope = at('envelope.json', signed(statementOf(said, commit)));
    const keys = at('keys.json', { keys: [published] });
    return run([envelope, '--keys', keys, '--trace', at('trace.json', trace)]);
  };

  it('says whose lines a trace has that is the signed one', async () => {
    const { code, said } = await withTrace(record);
    expect(said).toContain(
      'statement: ai (openai/gpt-5) 3 lines, human 1 line. It leaves out 2 files.',
    );
    expect(code).toBe(0);
    const { trace: _, ...without } = record;
    expect(await withTrace(without)).toMatchObject({
      code: 1,
      said: expect.stringContaining('has no trace of its lines') as string,
    });
  });

  it.each(sampled(3, traces))(
    'refuses a trace with another %s',
    async (_, forge, why = 'was changed') => {
      const { code, said } = await withTrace(record, forge);
      expect([code, said]).toEqual([1, expect.stringContaining(why)]);
    },
  );

  it('refuses observed that the log does not have, and a log of another session', async () => {
    const said = structuredClone(record);
    said.observed.approvals.approved = 5;
    const envelope = at('envelope.json', signed(statementOf(said, commitOf(said))));
    const keys = at('keys.json', { keys: [published] });
    const checked = await run([envelope, '--keys', keys, '--log', at('log.jsonl', log.join('\n'))]);
    expect(checked).toMatchObject({
      code: 1,
      said: expect.stringContaining('something else') as string,
    });
    const foreign = log.map((line) => line.replace('"session":"s"', '"session":"t"'));
    const wrong = await run([
      envelope,
      '--keys',
      keys,
      '--log',
      at('log.jsonl', foreign.join('\n')),
    ]);
    expect(wrong).toMatchObject({
      code: 1,
      said: expect.stringContaining('the session t') as string,
    });
  });

  const changedLogs: [string, (lines: string[]) => string[]][] = [
    ['changed', (lines) => lines.with(2, (lines[2] ?? '').replace('One', 'Two'))],
    ['removed', (lines) => lines.toSpliced(2, 1)],
    ['moved', (lines) => [...lines.slice(0, 2), lines[3] ?? '', lines[2] ?? '']],
  ];
  it.each(sampled(1, changedLogs))('names the record of a log that was %s', async (_, change) => {
    const envelope = signed(statementOf(record, commitOf(record)));
    const { code, said } = await verify(envelope, { lines: change(log) });
    expect([code, said]).toEqual([1, expect.stringContaining('Record 2 of the log was changed')]);
  });

  it('does not trust revoked and replaced keys, and cannot say anything about strangers', async () => {
    const envelope = signed(statementOf(record, commitOf(record)));
    const revoked = { ...published, revoked: made };
    expect(await verify(envelope, { keys: [revoked] })).toMatchObject({ code: 1 });
    const stranger = newSigningKey().published;
    expect(await verify(envelope, { keys: [stranger] })).toMatchObject({
      code: 2,
      said: expect.stringContaining(`a key that you do not trust (kid ${published.kid})`) as string,
    });
    expect(await verify(envelope, { keys: [{ ...stranger, kid: published.kid }] })).toMatchObject({
      code: 1,
    });
    const signatures = envelope.signatures.map((one) => ({
      ...one,
      keyid: 'x\u001b[2J\nIt holds',
    }));
    const { said } = await verify({ ...envelope, signatures }, { keys: [stranger] });
    expect(said).toMatch(/^It cannot be said.*\(kid x.*It holds\).*\n$/);
    expect(said).not.toContain('\u001b');
    const retired = [{ ...published, retired: created }];
    const keys = at('keys.json', { keys: retired });
    expect(await run([at('envelope.json', envelope), '--keys', keys])).toMatchObject({
      code: 1,
      said: expect.stringContaining('was retired on') as string,
    });
  });

  it.each([
    ['there is no statement for a commit', ['HEAD', '--keys', 'x'], 'There is no statement for'],
    ['a name says nothing', ['no-such-commit'], 'There is no file and no commit no-such-commit'],
    [
      'it is given another address',
      ['https://git.example.com/a/b'],
      'is not the address of a pull',
    ],
    [
      'a pull request cannot be fetched',
      ['http://127.0.0.1:1/a/b/pull/1'],
      'refs/pull/1/head of http://127.0.0.1:1/a/b.git could not be fetched',
    ],
    ['a file is none of these', [__filename, '--keys', 'x'], 'is not a signed statement'],
  ])('cannot say whether it holds when %s', async (_, args, why) => {
    const { code, said } = await run(args);
    expect([code, said]).toEqual([2, expect.stringContaining(`cannot be said`)]);
    expect(said).toContain(why);
  });

  it('is not misled by objects that the clone replaces', async () => {
    const commit = commitOf(record);
    const envelope = signed(statementOf(record, other));
    const forged = { ...record, change: { ...record.change, branch: 'y' } };
    git('replace', commit, commitOf(forged));
    expect(await verify(signed(statementOf(record, commit)))).toMatchObject({ code: 0 });
    git('replace', '-d', commit);
    expect(
      (await run([at('envelope.json', envelope), '--keys', at('keys.json', { keys: [published] })]))
        .code,
    ).toBe(2);
  });
});
