import { AppError, runFindings, type AutomationDefinitionInput } from '@belay/protocol';
import type { ProofBlocks } from '../../publishing/proof-blocks.js';
import { AuditLog } from '../../access/audit-log.js';
import type { Forges } from '../forges/forges.js';
import { MemoryForge } from '../forges/testing/memory-forge.js';
import { onEveryDatabase } from '../../testing/databases.js';
import { TestLogs } from '../../testing/logs.js';
import { OutgoingPlans } from './outgoing-plans.js';
import { Outgoing } from './outgoing.js';
import type { OutgoingCheck } from './outgoing-check.js';
import { OutgoingStore } from './outgoing.store.js';
import type { PullLines } from './pull-lines.js';
import { PullTexts } from './pull-texts.js';
import { refusePush } from './push-rows.js';
import { pushedResult, runOf } from './testing/run-of.js';
import { SkippingClock } from './testing/skipping-clock.js';

const marker = '<!-- belay:run:run-1 -->';
const report = {
  summary: 'The total was wrong: @team, see #3.',
  comments: [
    { path: 'a.ts', line: 1, side: 'new' as const, text: 'Off by one.' },
    { path: 'b.ts', line: 9, side: 'new' as const, text: 'Elsewhere.' },
  ],
  replies: [
    { thread: 't1', text: 'Done.' },
    { thread: 't1', text: 'Really done.' },
    { thread: 'other', text: 'Of another pull request.' },
  ],
};
const commit = 'c'.repeat(40);
const proofs: Pick<ProofBlocks, 'of' | 'renewed'> = {
  of: async (sha) => `The proof of ${sha}`,
  renewed: async (body, sha) => body.replace(/\[proof of \w+\]/, `[proof of ${sha}]`),
};
const everything: AutomationDefinitionInput['out'] = {
  reaction: true,
  comment: {},
  labels: { remove: ['belay'], add: ['done'] },
  review: {},
  replies: {},
};

onEveryDatabase('what a run sends', (databases) => {
  let logs: TestLogs;
  let forge: MemoryForge;
  let clock: SkippingClock;
  let refusal: string | null;
  let audit: AuditLog;
  beforeEach(async () => {
    logs = await new TestLogs(databases).open({ BELAY_PUBLIC_URL: 'https://belay.example.com' });
    audit = new AuditLog(logs.database);
    forge = new MemoryForge();
    clock = new SkippingClock();
    refusal = null;
    forge.addPull({
      number: 12,
      sha: 'a'.repeat(40),
      labels: ['belay', 'bug'],
      author: forge.user,
      body: 'Why. [proof of old]',
    });
    const comments = [forge.say(12, 'Why?', { id: '9', name: 'ada', isBot: false })];
    forge.threadsOf.set(12, [{ id: 't1', path: 'a.ts', line: 1, resolved: false, comments }]);
    forge.commentsOf.delete(12);
  });
  afterEach(async () => {
    await audit.beforeApplicationShutdown();
    await logs.close();
  });

  /** The classes as a new server makes them. */
  const server = (store = new OutgoingStore(logs.database, clock)): Outgoing => {
    const forges = { open: () => forge } as unknown as Forges;
    const check: Pick<OutgoingCheck, 'refusalOf'> = {
      refusalOf: async (texts) => (texts.some((text) => text.includes('total')) ? refusal : null),
    };
    const lines: Pick<PullLines, 'of'> = {
      of:
        async () =>
        ({ path }) =>
          path === 'a.ts',
    };
    const blocks = proofs as ProofBlocks;
    const texts = new PullTexts(store, forges, blocks);
    const plans = new OutgoingPlans(logs.config, check as OutgoingCheck, lines as PullLines, texts);
    return new Outgoing(store, forges, plans, blocks, clock, audit);
  };
  /** The oldest first, without the run that all are of. */
  const audited = async () => {
    const { entries } = await audit.page({ limit: 100 });
    return entries.toReversed().map(({ api, caller, label, action, session, subject, outcome }) => {
      expect({ api, caller, label, session }).toEqual({
        api: 'automation',
        caller: 'automation:automation-1',
        label: 'fix-issue',
        session: 's1',
      });
      return [action, outcome, subject.replace(/^run-1 \(pull\.labelled #12\): /, '')];
    });
  };
  const run = (out = everything) =>
    runOf({
      definition: {
        on: { host: 'git.example.com', repository: 'acme/api', event: 'pull.labelled' },
        out,
      },
      occurrence: {
        event: 'pull.labelled',
        key: 'x',
        at: '2026-01-01T00:00:00Z',
        actor: null,
        number: 12,
      },
      findings: runFindings.parse({ sha: 'a'.repeat(40), branch: 'feature', base: 'main' }),
      session: 's1',
      spent: 1_500_000,
    });
  const ended = (out = everything) => ({
    ...run(out),
    state: 'publishing' as const,
    code: 'nothing',
    why: 'It changed no file.',
  });
  const bodies = () => (forge.commentsOf.get(12) ?? []).map(({ body }) => body);
  const sent = () => forge.writes.map(({ method }) => method);

  it('says that it works, and then in the same comment what came of it', async () => {
    const outgoing = server();
    await outgoing.planBegin(run());
    expect(sent()).toEqual([]);
    expect(await outgoing.deliver(run())).toEqual({ done: true, failed: null, nextAt: null });
    expect(sent()).toEqual(['react', 'changeLabels', 'addComment']);
    expect(forge.pulls.get(12)?.labels).toEqual(['bug']);
    expect(bodies()).toEqual([
      `Belay is working on this: [the session](https://belay.example.com/sessions/s1).\n\n${marker}`,
    ]);
    await outgoing.planEnd(ended(), report);
    await outgoing.planEnd(ended(), report);
    expect(await outgoing.deliver(ended())).toMatchObject({ done: true, failed: null });
    expect(bodies()).toHaveLength(1);
    expect(bodies()[0]).toContain('- Cost: $1.50.');
    expect(bodies()[0]).toContain('The agent says:\n\nThe total was wrong: `@team`, see `#3`.');
    expect(forge.pulls.get(12)?.labels).toEqual(['bug', 'done']);
    const [review] = forge.reviewsOf.get(12) ?? [];
    expect(review?.body).toContain('On lines that the change does not show:\n\n- b.ts, line 9');
    expect(forge.lineComments).toEqual([
      { path: 'a.ts', line: 1, side: 'new', body: 'Off by one.' },
    ]);
    const replies = forge.threadsOf.get(12)?.[0]?.comments.map(({ body }) => body);
    expect(replies).toEqual(['Why?', `Really done.\n\n${marker}`]);
    expect(await outgoing.list('run-1')).toMatchObject([
      { kind: 'reaction', state: 'sent' },
      { kind: 'labels', state: 'sent' },
      { kind: 'comment', state: 'sent', target: 'pull:12', url: expect.any(String) as string },
      { kind: 'review', state: 'sent' },
      { kind: 'reply', state: 'sent' },
      { kind: 'reply', state: 'refused', why: expect.stringContaining('no such thread') as string },
      { kind: 'comment', state: 'sent' },
      { kind: 'labels', state: 'sent' },
    ]);
    const about = 'pull:12 of git.example.com/acme/api';
    const withLink = expect.stringMatching(new RegExp(`^${about} https://`)) as string;
    expect(await audited()).toEqual([
      ['automations.reaction', 'ok', about],
      ['automations.labels', 'ok', about],
      ['automations.comment', 'ok', withLink],
      ['automations.review', 'ok', expect.stringContaining(about)],
      ['automations.reply', 'ok', expect.stringContaining(about)],
      ['automations.reply', 'not_found', expect.stringContaining('no such thread')],
      ['automations.comment', 'ok', withLink],
      ['automations.labels', 'ok', about],
    ]);
  });

  it.each(
    (
      [
        'react',
        'changeLabels',
        'addComment',
        'editComment',
        'addReview',
        'reply',
        'editPull',
      ] as const
    ).flatMap((method) => [[method, 'before'] as const, [method, 'after'] as const]),
  )('sends everything once when the server is killed at %s, %s it is sent', async (method, at) => {
    const dying = new DyingStore(logs.database, clock);
    forge[at] = (write) => {
      if (write.method === method && !dying.isDead) {
        dying.isDead = true;
        throw new Error('Killed.');
      }
    };
    const first = server(dying);
    const done = { ...ended(), result: pushedResult(commit) };
    const life = async () => {
      await first.planBegin(run());
      await first.deliver(run());
      await first.planEnd(done, report);
      await first.deliver(done);
    };
    await expect(life()).rejects.toThrow('Killed.');
    const next = server();
    await next.planBegin(run());
    await next.deliver(run());
    await next.planEnd(done, report);
    expect(await next.deliver(done)).toMatchObject({ done: true });
    expect(bodies()).toEqual([expect.stringContaining('ended its work')]);
    expect(forge.pulls.get(12)?.body).toBe(`Why. [proof of ${commit}]`);
    expect(sent().filter((one) => one === 'editPull')).toHaveLength(1);
    expect(forge.reviewsOf.get(12)).toHaveLength(1);
    expect(forge.threadsOf.get(12)?.[0]?.comments).toHaveLength(2);
    // An entry may be missing, as the killed server had not stored it; none is there twice.
    const ok = (await audited()).filter(([, outcome]) => outcome === 'ok');
    expect(ok.length).toBeLessThanOrEqual(8);
    expect(forge.pulls.get(12)?.labels).toEqual(['bug', 'done']);
  });

  it('waits as long as the host asks, tries five times, and gives up', async () => {
    const outgoing = server();
    await outgoing.planBegin(run({ comment: {} }));
    let tries = 0;
    forge.before = () => {
      tries += 1;
      throw new AppError('limit_reached', 'The host is busy.', { retryAfterMs: 90_000 });
    };
    const first = await outgoing.deliver(run());
    expect(first).toMatchObject({ done: false, failed: null });
    expect(first.nextAt?.getTime()).toBe(clock.now().getTime() + 90_000);
    clock.skip(89_000);
    expect(await outgoing.deliver(run())).toEqual(first);
    expect(tries).toBe(1);
    for (let times = 0; times < 4; times += 1) {
      clock.skip(60 * 60_000);
      await outgoing.deliver(run());
    }
    expect(tries).toBe(5);
    expect(await outgoing.deliver(run())).toMatchObject({
      done: true,
      failed: 'The host is busy.',
    });
    expect(await outgoing.list('run-1')).toMatchObject([{ state: 'given-up' }]);
    expect(await audited()).toEqual([
      [
        'automations.comment',
        'limit_reached',
        'pull:12 of git.example.com/acme/api The host is busy.',
      ],
    ]);
  });

  it('goes on when the host is there again', async () => {
    const outgoing = server();
    await outgoing.planBegin(run({ comment: {} }));
    forge.before = () => {
      throw new AppError('unavailable', 'The host is down.');
    };
    expect(await outgoing.deliver(run())).toMatchObject({ done: false });
    forge.before = () => {};
    clock.skip(10_000);
    expect(await outgoing.deliver(run())).toMatchObject({ done: true, failed: null });
    expect(bodies()).toHaveLength(1);
  });

  it('gives up at once what the token may not do', async () => {
    const outgoing = server();
    await outgoing.planBegin(run({ comment: {} }));
    forge.before = () => {
      throw new AppError('forbidden', 'The token may not comment.');
    };
    expect(await outgoing.deliver(run())).toMatchObject({
      done: true,
      failed: 'The token may not comment.',
    });
    expect(await outgoing.list('run-1')).toMatchObject([{ state: 'refused' }]);
  });

  it('does not take the text of someone else for its own', async () => {
    forge.say(12, `Mine.\n\n${marker}`, { id: '9', name: 'ada', isBot: false });
    const outgoing = server();
    await outgoing.planBegin(run({ comment: {} }));
    await outgoing.deliver(run());
    expect(bodies()).toHaveLength(2);
    expect(bodies()[0]).toBe(`Mine.\n\n${marker}`);
  });

  it('sends nothing of the agent when one of its texts is refused', async () => {
    const outgoing = server();
    await outgoing.planBegin(run());
    await outgoing.deliver(run());
    refusal = 'It may hold the token of git.example.com.';
    await outgoing.planEnd(ended(), report);
    expect(await outgoing.deliver(ended())).toMatchObject({ done: true, failed: refusal });
    expect(forge.reviewsOf.get(12)).toBeUndefined();
    expect(forge.threadsOf.get(12)?.[0]?.comments).toHaveLength(1);
    expect(bodies()).toEqual([expect.stringContaining('published nothing')]);
    const rows = await new OutgoingStore(logs.database, clock).of('run-1');
    expect(rows.filter(({ content }) => content.includes('total'))).toEqual([]);
  });

  it('fails when a reply alone is refused', async () => {
    const outgoing = server();
    refusal = 'It may hold a token.';
    const replies = [{ thread: 't1', text: 'The total is a token.' }];
    await outgoing.planEnd(ended({ replies: {} }), { ...report, replies });
    expect(await outgoing.deliver(ended())).toMatchObject({ done: true, failed: refusal });
    expect(sent()).toEqual([]);
  });

  it('does not fail with a push that was refused, which the result of the run tells', async () => {
    const store = new OutgoingStore(logs.database, clock);
    const outgoing = server(store);
    await refusePush(store, 'run-1', {
      branch: 'belay/12',
      why: 'It is not proven.',
      result: null,
    });
    await outgoing.planEnd(ended({ comment: {} }), report);
    expect(await outgoing.deliver(ended())).toMatchObject({ done: true, failed: null });
    expect(await outgoing.list('run-1')).toMatchObject([
      { kind: 'push', state: 'refused', why: 'It is not proven.' },
      { kind: 'comment', state: 'sent' },
    ]);
  });

  it('sends nothing that the definition does not name, and nothing without a subject', async () => {
    const outgoing = server();
    await outgoing.planBegin(run({}));
    await outgoing.planEnd(ended({}), report);
    const occurrence = { ...run().occurrence, number: undefined };
    await outgoing.planBegin({ ...run(), occurrence });
    await outgoing.planEnd({ ...ended(), occurrence }, report);
    expect(await outgoing.deliver(ended())).toMatchObject({ done: true, failed: null });
    expect(sent()).toEqual([]);
  });
});

/** Of a server that notes nothing any more once it was killed. */
class DyingStore extends OutgoingStore {
  isDead = false;

  override async change(...given: Parameters<OutgoingStore['change']>): Promise<void> {
    if (this.isDead) throw new Error('Killed.');
    await super.change(...given);
  }
}
