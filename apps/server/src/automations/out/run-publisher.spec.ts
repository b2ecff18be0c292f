import {
  AppError,
  runFindings,
  type AutomationDefinitionInput,
  type RerunReport,
  type RunReport,
} from '@belay/protocol';
import { itLong, sampled } from '@belay/testing';
import { gitIn, put } from '@belay/testkit';
import { RepositoryPusher } from '../../git/repository-pusher.js';
import { EventLog } from '../../logs/event-log.js';
import { Evidence } from '../../proof/evidence.js';
import { Reruns, type WantedReruns } from '../../proof/reruns/reruns.js';
import { MessageDrafts } from '../../publishing/message-drafts.js';
import { PublishingService } from '../../publishing/publishing.service.js';
import { AuditLog } from '../../access/audit-log.js';
import { Database } from '../../storage/database.js';
import { ProofBlocks } from '../../publishing/proof-blocks.js';
import { PullRequestScene } from '../../testing/pull-request-scene.js';
import { Clock } from '../clock.js';
import type { Forges } from '../forges/forges.js';
import { MemoryForge } from '../forges/testing/memory-forge.js';
import type { RunRecord } from '../run-record.js';
import { OpenPulls } from './open-pulls.js';
import type { OutgoingCheck } from './outgoing-check.js';
import { OutgoingStore } from './outgoing.store.js';
import { PullTexts } from './pull-texts.js';
import { PushPlans } from './push-plans.js';
import { RunPublisher } from './run-publisher.js';
import { runOf } from './testing/run-of.js';
import { storeRun } from './testing/store-run.js';

const scene = new PullRequestScene();
const { belay, cloned, edit, hubOf } = scene;
const reproduction = {
  command: 'npm test -- test/a.test.js',
  files: ['test/a.test.js'],
  expects: 'TypeError: x is undefined',
};
const report: RunReport = {
  title: 'Fix the total for @team, closes #3',
  summary: 'The total was wrong. Fixes #4.',
  reproduction,
  comments: [],
  replies: [],
};
let verdict: 'confirmed' | 'inconclusive';
let reran: WantedReruns[];
let forge: MemoryForge;
let secret: string | null;
let runs = 0;

beforeAll(() => {
  const run = async (wanted: WantedReruns): Promise<RerunReport> => {
    reran.push(wanted);
    const claim = { verdict, why: 'It is so.', runs: [], ...reproduction };
    const claims = wanted.reproduction ? [{ claim: 'reproduction' as const, ...claim }] : [];
    return { image: { name: 'i', id: 'sha256:1' }, claims };
  };
  belay.replace(Reruns, { run });
  return scene.start();
});
afterAll(() => scene.close());
beforeEach(() => {
  verdict = 'confirmed';
  reran = [];
  secret = null;
  forge = new MemoryForge();
});
afterEach(() => {
  jest.restoreAllMocks();
  scene.forgetHub();
});

const check: Pick<OutgoingCheck, 'refusalOf'> = {
  refusalOf: async (texts) =>
    secret !== null && texts.some((text) => text.includes(secret ?? ''))
      ? 'It may hold a token.'
      : null,
};

const storeOf = () => new OutgoingStore(belay.app.get(Database), new Clock());

/** The publisher as a new server makes it. */
function publisher(store = storeOf()): RunPublisher {
  const forges = { open: () => forge } as unknown as Forges;
  const plans = new PushPlans(new OpenPulls(store, forges), belay.app.get(MessageDrafts));
  const publishing = belay.app.get(PublishingService);
  return new RunPublisher(
    belay.app.get(EventLog),
    publishing,
    plans,
    store,
    check as OutgoingCheck,
    belay.app.get(AuditLog),
  );
}

/** What the audit log says that a run published. */
async function audited(run: RunRecord) {
  const { entries } = await belay.app.get(AuditLog).page({ limit: 10, session: run.session ?? '' });
  return entries
    .filter(({ api }) => api === 'automation')
    .map(({ action, outcome, subject }) => [action, outcome, subject]);
}

/** A run whose session has changed these files. */
async function changed(
  definition: Partial<AutomationDefinitionInput>,
  {
    files = { 'src/a.js': 'let a = 2;\n', 'test/a.test.js': 'test\n' },
    ...more
  }: { files?: Record<string, string> } & Partial<Omit<RunRecord, 'definition'>> = {},
) {
  const { session, bare, url } = await cloned();
  const { hub } = await hubOf('gitea', url);
  edit((work) => {
    for (const [path, text] of Object.entries(files)) put(work, path, text);
  });
  const run = runOf({ definition, session, id: `run-${++runs}`, ...more });
  return { session, bare, hub, run, url };
}

const branchesOf = (bare: string): string[] =>
  gitIn(bare, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').trim().split('\n');
const branchOf = (bare: string): string =>
  branchesOf(bare).find((name) => name.startsWith('belay/')) ?? '';

describe('publishing a run', () => {
  it('opens a draft with the proof, in words that reach nobody', async () => {
    const setup = { command: 'npm ci', hosts: ['@npm'], paths: ['node_modules'], seconds: 90 };
    const definition = {
      out: { pullRequest: {} },
      proof: { commands: ['npm test -- {files}'], seconds: 30, repeat: 3, setup },
    };
    const actor = { id: '99', name: 'ada \ud800', isBot: false };
    const occurrence = { ...runOf().occurrence, actor };
    const { bare, hub, run } = await changed(definition, { occurrence });
    const result = await publisher().publish(run, report);
    expect(result).toMatchObject({
      outcome: 'published',
      verdict: 'confirmed',
      changedFiles: 2,
      pullRequest: { number: 1 },
      commit: gitIn(bare, 'rev-parse', branchOf(bare)).trim(),
      tree: gitIn(bare, 'rev-parse', `${branchOf(bare)}^{tree}`).trim(),
    });
    expect(reran).toMatchObject([
      { ...definition.proof, reproduction, totalSeconds: 30 * 10 + 2 * 90 },
    ]);
    expect(branchOf(bare)).toMatch(/^belay\/12-[0-9a-f]{6}$/);
    const [opened] = hub.opened;
    expect(opened).toMatchObject({ title: 'WIP: Fix the total for team, closes 3' });
    expect(opened?.body).toContain('The total was wrong. Fixes `#4`.\n\nFixes #12\n\n');
    expect(opened?.body).toContain('reproduction **confirmed**');
    expect(gitIn(bare, 'log', '-1', '--format=%s', branchOf(bare)).trim()).toBe(
      'Fix the total for team, closes 3',
    );
    const said = await belay.app.get(Evidence).recordOf(run.session ?? '', result.commit ?? '');
    expect(said?.record.automation).toEqual({
      name: 'fix-issue',
      version: 1,
      run: run.id,
      event: 'issue.labelled',
      actor: { id: '99', name: 'ada \ufffd' },
    });
    expect(await publisher().publish(run, report)).toEqual(result);
    expect(hub.opened).toHaveLength(1);
    expect((await storeOf().of(run.id)).map(({ kind, state }) => [kind, state])).toEqual([
      ['push', 'sent'],
      ['pull', 'sent'],
    ]);
    const page = result.pullRequest?.url ?? 'none';
    const what = `${result.commit?.slice(0, 12)} to ${page}`;
    expect(await audited(run)).toEqual([
      ['sessions.publish', 'ok', `${run.id} (issue.labelled #12, by ada \ufffd (99)): ${what}`],
    ]);
  });

  itLong('calls what is not proven speculative, or does not publish it', async () => {
    verdict = 'inconclusive';
    const wanted = await changed({ out: { pullRequest: {} } });
    expect(await publisher().publish(wanted.run, report)).toMatchObject({
      outcome: 'speculative',
      verdict: 'inconclusive',
    });
    const proof = { reproduction: 'required' } as const;
    const required = await changed({ out: { pullRequest: {} }, proof });
    expect(await publisher().publish(required.run, report)).toMatchObject({
      outcome: 'nothing',
      verdict: 'inconclusive',
      commit: null,
      changedFiles: 2,
      why: expect.stringContaining('is inconclusive: It is so.') as string,
    });
    expect(branchOf(required.bare)).toBe('');
    const none = await changed({ out: { pullRequest: {} }, proof });
    const { reproduction: _none, ...without } = report;
    expect(await publisher().publish(none.run, without)).toMatchObject({ outcome: 'nothing' });
    expect(branchOf(none.bare)).toBe('');
    verdict = 'confirmed';
    const proven = await changed({ out: { pullRequest: {} }, proof });
    expect(await publisher().publish(proven.run, report)).toMatchObject({ outcome: 'published' });
  });

  const refused: [string, Record<string, string>, object, string][] = [
    ['files of CI', { '.github/workflows/a.yml': 'x\n' }, {}, 'with its secrets'],
    ['definitions of automations', { '.belay/automations/a.yaml': 'x\n' }, {}, 'by users alone'],
    ['too many files', { 'src/b.js': 'x\n', 'src/c.js': 'x\n' }, { files: 1 }, 'more than'],
    ['too many bytes', { 'src/b.js': 'x'.repeat(5_000) }, { bytes: 4_000 }, 'more than 4000'],
    ['other paths', { 'src/b.js': 'x\n' }, { paths: ['docs/**'] }, 'not among'],
  ];
  it.each(sampled(2, refused))('does not publish %s', async (_, files, pullRequest, why) => {
    const { bare, run } = await changed({ out: { pullRequest } }, { files });
    expect(await publisher().publish(run, report)).toMatchObject({
      outcome: 'stuck',
      commit: null,
      why: expect.stringContaining(why) as string,
    });
    expect(branchOf(bare)).toBe('');
    expect(await storeOf().of(run.id)).toMatchObject([{ kind: 'push', state: 'refused' }]);
  });

  itLong('publishes files of CI where that is allowed, but never definitions', async () => {
    const out = { pullRequest: { ciFiles: 'allow' } } as const;
    const files = { '.github/workflows/a.yml': 'x\n' };
    const allowed = await changed({ out }, { files });
    expect(await publisher().publish(allowed.run, report)).toMatchObject({ outcome: 'published' });
    const own = await changed({ out }, { files: { '.belay/automations/a.yaml': 'x\n' } });
    expect(await publisher().publish(own.run, report)).toMatchObject({ outcome: 'stuck' });
  });

  it('sends nothing when a text or an added line is refused', async () => {
    const files = { 'src/a.js': 'let key = "geheim";\n' };
    for (const one of ['geheim', 'The total']) {
      secret = one;
      const { bare, run } = await changed({ out: { pullRequest: {} } }, { files });
      await expect(publisher().publish(run, report)).rejects.toMatchObject({ code: 'forbidden' });
      expect(branchOf(bare)).toBe('');
      const rows = await storeOf().of(run.id);
      expect(rows).toMatchObject([{ kind: 'push', state: 'refused', why: 'It may hold a token.' }]);
      expect(rows[0]?.content).not.toContain(one);
      const subject = expect.stringContaining('It may hold a token.') as string;
      expect(await audited(run)).toEqual([['sessions.publish', 'forbidden', subject]]);
    }
  });

  it('says so when nothing was changed', async () => {
    const { run } = await changed({ out: { pullRequest: {} } }, { files: {} });
    belay.sandboxes.patch = () => [Buffer.alloc(0)];
    expect(await publisher().publish(run, report)).toMatchObject({ outcome: 'nothing' });
    const other = { ...run, id: `run-${++runs}` };
    const answer = { ...report, noChange: 'It works as it is documented.' };
    expect(await publisher().publish(other, answer)).toMatchObject({ outcome: 'answered' });
  });
});

describe('publishing after a server that was killed', () => {
  it.each(sampled(1, ['after', 'before']))('%s it pushed', async (when) => {
    const { bare, hub, run } = await changed({ out: { pullRequest: {} } });
    const pusher = belay.app.get(RepositoryPusher);
    const push = pusher.push.bind(pusher);
    jest.spyOn(pusher, 'push').mockImplementationOnce(async (...given) => {
      if (when === 'after') await push(...given);
      throw new AppError('unavailable', 'Killed.');
    });
    await expect(publisher().publish(run, report)).rejects.toThrow('Killed.');
    expect(await publisher().publish(run, report)).toMatchObject({
      outcome: 'published',
      verdict: 'confirmed',
      pullRequest: { number: 1 },
    });
    expect(gitIn(bare, 'rev-list', '--count', `main..${branchOf(bare)}`).trim()).toBe('1');
    expect(hub.opened).toHaveLength(1);
    expect(reran).toHaveLength(1);
  });

  it('after everything was sent, and before it was noted', async () => {
    const { bare, hub, run } = await changed({ out: { pullRequest: {} } });
    class Dying extends OutgoingStore {
      override change(): Promise<void> {
        return Promise.reject(new Error('Killed.'));
      }
    }
    const dying = new Dying(belay.app.get(Database), new Clock());
    await expect(publisher(dying).publish(run, report)).rejects.toThrow('Killed.');
    expect(hub.opened).toHaveLength(1);
    expect(await publisher().publish(run, report)).toMatchObject({
      outcome: 'published',
      commit: gitIn(bare, 'rev-parse', branchOf(bare)).trim(),
      pullRequest: { number: 1 },
    });
    expect(hub.opened).toHaveLength(1);
    expect(branchesOf(bare)).toHaveLength(3);
  });
});

itLong(
  'tries again to open a pull request, and leaves the branch when that does not help',
  async () => {
    const { bare, hub, run } = await changed({ out: { pullRequest: {} } });
    hub.failure = { status: 403, body: {}, paths: /pulls/ };
    for (let times = 0; times < 4; times += 1)
      await expect(publisher().publish(run, report)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await publisher().publish(run, report)).toMatchObject({
      outcome: 'stuck',
      changedFiles: 2,
      pullRequest: null,
      commit: gitIn(bare, 'rev-parse', branchOf(bare)).trim(),
    });
    expect(reran).toHaveLength(1);
    const other = await changed({ out: { pullRequest: {} } });
    other.hub.failure = { status: 403, body: {}, paths: /pulls/ };
    await expect(publisher().publish(other.run, report)).rejects.toMatchObject({
      code: 'unavailable',
    });
    other.hub.failure = undefined;
    expect(await publisher().publish(other.run, report)).toMatchObject({
      outcome: 'published',
      pullRequest: { number: 1 },
    });
  },
);

describe('one open pull request for each subject', () => {
  it.each(sampled(1, ['open', 'closed']))('while the earlier one is %s', async (state) => {
    const subject = `#${state}`;
    const first = await changed({ out: { pullRequest: {} } }, { subject });
    await storeRun(belay.app.get(Database), first.run);
    await publisher().publish(first.run, report);
    const branch = branchOf(first.bare);
    forge.addPull({ number: 1, sha: 'a'.repeat(40), branch, state });
    edit((work) => {
      put(work, 'src/a.js', 'let a = 2;\n');
      put(work, 'test/a.test.js', 'test\n');
      put(work, 'src/more.js', 'more\n');
    });
    const repository = { url: first.url };
    const session = await belay.session({ repository });
    edit((work) => put(work, 'src/more.js', 'more\n'));
    const next = { ...first.run, id: `run-${++runs}`, session };
    const result = await publisher().publish(next, { ...report, title: 'Fix more' });
    expect(result).toMatchObject({ outcome: 'published' });
    const forges = { open: () => forge } as unknown as Forges;
    const texts = new PullTexts(storeOf(), forges, belay.app.get(ProofBlocks));
    const title = { given: ['Fix the total for team, closes 3'], wanted: 'Fix more' };
    const updated = { target: 'pull:1', content: { commit: result.commit, title } };
    const planned = await texts.of({ ...next, result });
    expect(planned?.item).toEqual(state === 'open' ? expect.objectContaining(updated) : undefined);
    const own = branchesOf(first.bare).filter((name) => name.startsWith('belay/'));
    expect(own).toHaveLength(state === 'open' ? 1 : 2);
    expect(first.hub.opened).toHaveLength(state === 'open' ? 1 : 2);
  });
});

describe('pushing to the branch that the run is about', () => {
  const onBranch = async (
    branch: string,
    { tip, isFork = false }: { tip?: string; isFork?: boolean } = {},
  ) => {
    const { bare, url } = scene.repository();
    gitIn(bare, 'branch', branch, 'main');
    await hubOf('gitea', url);
    const sha = gitIn(bare, 'rev-parse', 'main').trim();
    const session = await belay.session({ repository: { url, branch, commit: sha } });
    edit((work) => put(work, 'src/a.js', 'let a = 2;\n'));
    const findings = runFindings.parse({ sha: tip ?? sha, branch, base: 'main', isFork });
    const out = { push: { branch: 'same' } } as const;
    const definition = { out, proof: { reproduction: 'none' } } as const;
    const run = runOf({ id: `run-${++runs}`, definition, session, findings });
    return { bare, run, sha };
  };
  const tipOf = (bare: string, branch: string) => gitIn(bare, 'rev-parse', branch).trim();

  it('pushes while it is where the run began', async () => {
    const { bare, run, sha } = await onBranch('belay/12');
    const { commit } = await publisher().publish(run, report);
    expect(tipOf(bare, 'belay/12')).toBe(commit);
    expect(gitIn(bare, 'rev-parse', 'belay/12^').trim()).toBe(sha);
  });

  const unfit: [string, string, { tip?: string; isFork?: boolean }, string][] = [
    ['has moved', 'belay/13', { tip: 'b'.repeat(40) }, 'moved'],
    ['is of a fork', 'belay/14', { isFork: true }, 'fork'],
    ['has another name', 'feature', {}, 'branch'],
  ];
  it.each(sampled(2, unfit))('pushes nothing when it %s', async (_, branch, options, code) => {
    const { bare, run, sha } = await onBranch(branch, options);
    await expect(publisher().publish(run, report)).rejects.toMatchObject({
      state: 'skipped',
      code,
    });
    expect(tipOf(bare, branch)).toBe(sha);
    expect(await storeOf().of(run.id)).toMatchObject([{ kind: 'push', state: 'refused' }]);
  });
});
