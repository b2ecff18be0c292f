import { publishRequest, runFindings } from '@belay/protocol';
import type { ProofBlocks } from '../../publishing/proof-blocks.js';
import { AuditLog } from '../../access/audit-log.js';
import { TestLogs } from '../../testing/logs.js';
import type { Forges } from '../forges/forges.js';
import { MemoryForge } from '../forges/testing/memory-forge.js';
import type { RunRecord } from '../run-record.js';
import { OutgoingPlans } from './outgoing-plans.js';
import { Outgoing } from './outgoing.js';
import type { OutgoingCheck } from './outgoing-check.js';
import { OutgoingStore } from './outgoing.store.js';
import type { PullLines } from './pull-lines.js';
import { PullTexts } from './pull-texts.js';
import { notePush, planPush } from './push-rows.js';
import { pushedResult, runOf } from './testing/run-of.js';
import { SkippingClock } from './testing/skipping-clock.js';
import { storeRun } from './testing/store-run.js';

const [first, second] = ['a'.repeat(40), 'b'.repeat(40)];
const mine = /\[proof of \w+\]/;
const proofs: Pick<ProofBlocks, 'of' | 'renewed'> = {
  of: async (commit) => `The proof of ${commit}`,
  renewed: async (body, commit) =>
    mine.test(body) ? body.replace(mine, `[proof of ${commit}]`) : undefined,
};
const ada = { id: '9', name: 'ada', isBot: false };
const body = `Why.\r\n\n[proof of ${first}]  \nBy ada.`;

let logs: TestLogs;
let forge: MemoryForge;
let refused: string | null;
let audit: AuditLog;
beforeEach(async () => {
  logs = await new TestLogs().open();
  audit = new AuditLog(logs.database);
  forge = new MemoryForge();
  refused = null;
});
afterEach(async () => {
  await audit.beforeApplicationShutdown();
  await logs.close();
});

const clock = new SkippingClock();
const storeOf = () => new OutgoingStore(logs.database, clock);

function outgoing(): Outgoing {
  const forges = { open: () => forge } as unknown as Forges;
  const check: Pick<OutgoingCheck, 'refusalOf'> = {
    refusalOf: async (texts) =>
      texts.some((text) => refused !== null && text.includes(refused))
        ? 'It may hold a token.'
        : null,
  };
  const blocks = proofs as ProofBlocks;
  const texts = new PullTexts(storeOf(), forges, blocks);
  const plans = new OutgoingPlans(logs.config, check as OutgoingCheck, {} as PullLines, texts);
  return new Outgoing(storeOf(), forges, plans, blocks, clock, audit);
}

/** Sends what a run has to say at its end, and returns its rows about texts of pull requests. */
async function ends(run: RunRecord) {
  await outgoing().planEnd(run, null);
  const end = await outgoing().deliver(run);
  const all = await outgoing().list(run.id);
  return { ...end, rows: all.filter(({ kind }) => kind === 'pull-text') };
}

const edits = () => forge.writes.filter(({ method }) => method === 'editPull').length;

/** A run that pushed to the branch of the pull request that it is about. */
const onBranch = (number: number | undefined) =>
  runOf({
    definition: {
      on: { host: 'git.example.com', repository: 'acme/api', event: 'checks.failed' },
      out: { push: { branch: 'same' } },
    },
    occurrence: {
      event: 'checks.failed',
      key: 'x',
      at: '2026-01-01T00:00:00Z',
      actor: null,
      number,
    },
    findings: runFindings.parse({ sha: first, branch: 'belay/12', base: 'main' }),
    state: 'publishing',
    code: 'published',
    why: 'It was published.',
    result: pushedResult(second),
  });

describe('a push to the branch that a run is about', () => {
  const pull = (more: object = {}) =>
    forge.addPull({
      number: 12,
      sha: second,
      branch: 'belay/12',
      author: forge.user,
      title: 'Fix it',
      body,
      ...more,
    });

  it.each([12, undefined])('is told of in its pull request, when the event names %s', async (n) => {
    pull();
    pull({ number: 13, branch: 'other' });
    expect(await ends(onBranch(n))).toMatchObject({
      done: true,
      failed: null,
      rows: [{ target: 'pull:12', state: 'sent' }],
    });
    expect(forge.pulls.get(12)).toMatchObject({
      title: 'Fix it',
      body: `Why.\r\n\n[proof of ${second}]  \nBy ada.`,
    });
    expect(forge.pulls.get(13)?.body).toBe(body);
  });

  it('is not told of twice', async () => {
    pull({ body: body.replace(first, second) });
    expect((await ends(onBranch(12))).rows).toMatchObject([{ state: 'sent' }]);
    expect(edits()).toBe(0);
  });

  it.each([
    ['someone else opened it', { author: ada }, 'Someone else opened #12'],
    ['nobody is left who opened it', { author: null }, 'Someone else opened #12'],
    ['its proof was removed', { body: 'Mine.' }, 'was removed or changed'],
  ])('leaves the text when %s, and the run does not fail', async (_, more, why) => {
    const { body: before } = pull(more);
    expect(await ends(onBranch(12))).toMatchObject({
      done: true,
      failed: null,
      rows: [{ state: 'refused', why: expect.stringContaining(why) as string }],
    });
    expect(edits()).toBe(0);
    expect(forge.pulls.get(12)?.body).toBe(before);
  });

  it('is not told of when the check for secrets refuses the proof', async () => {
    pull();
    refused = 'The proof of';
    expect((await ends(onBranch(12))).rows).toMatchObject([
      { state: 'refused', why: 'It may hold a token.' },
    ]);
    expect(edits()).toBe(0);
  });

  it('is of no pull request if there is none, or nothing was pushed', async () => {
    pull();
    const none = { ...onBranch(12), result: null };
    expect((await ends(none)).rows).toEqual([]);
    const push = { ...onBranch(undefined), id: 'run-2' };
    const findings = runFindings.parse({ sha: first, branch: 'belay/12' });
    expect((await ends({ ...push, findings })).rows).toEqual([]);
  });
});

describe('a second run for the same subject', () => {
  const into = 'https://git.example.com/acme/api';
  const url = `${into}/pulls/3`;

  /** A run that published to the pull request 3 under this title. */
  async function published(id: string, title: string, commit: string): Promise<RunRecord> {
    const request = publishRequest.parse({
      id: 'e'.repeat(64),
      branch: 'belay/12',
      message: title,
      pullRequest: { title },
    });
    const result = pushedResult(commit, { url, number: 3, into });
    const run = runOf({
      id,
      definition: { out: { pullRequest: {} } },
      state: 'publishing',
      code: 'published',
      why: 'It was published.',
      result,
    });
    await storeRun(logs.database, run);
    const row = await planPush(storeOf(), id, { request, files: 1 });
    const change = { url: into, branch: 'belay/12', commit, branchPage: null, problem: null };
    await notePush(storeOf(), row, {
      result: { ...result, outcome: 'published', why: '' },
      change: { ...change, pullRequest: { url, number: 3, isNew: false }, reruns: null },
    });
    return run;
  }
  const pull = (title: string, more: object = {}) =>
    forge.addPull({ number: 3, sha: second, author: forge.user, title, body, ...more });

  it('says nothing more about a pull request that it opened itself', async () => {
    pull('Fix it');
    expect((await ends(await published('run-1', 'Fix it', first))).rows).toEqual([]);
  });

  it.each([
    ['Fix it', 'Fix it better'],
    ['Draft: Fix it', 'Draft: Fix it better'],
    ['WIP: Fix it', 'WIP: Fix it better'],
    ['Fix it, please', 'Fix it, please'],
    ['WIP: Draft: Fix it', 'WIP: Draft: Fix it'],
  ])('makes the title “%s” “%s”', async (before, after) => {
    await published('run-1', 'Fix it', first);
    pull(before);
    const run = await published('run-2', 'Fix it better', second);
    expect((await ends(run)).rows).toMatchObject([{ target: 'pull:3', state: 'sent' }]);
    expect(forge.pulls.get(3)).toMatchObject({ title: after, body: body.replace(first, second) });
    expect(edits()).toBe(1);
  });

  it('leaves the title of a pull request of someone else, too', async () => {
    await published('run-1', 'Fix it', first);
    pull('Fix it', { author: ada });
    await ends(await published('run-2', 'Fix it better', second));
    expect(edits()).toBe(0);
  });
});
