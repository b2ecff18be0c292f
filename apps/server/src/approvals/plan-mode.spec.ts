import { newEvent } from '@belay/protocol';
import { until } from '@belay/testing';
import { ownerCaller } from '../access/caller.js';
import { ApprovalBench } from '../testing/approval-bench.js';
import {
  hostRequest as egress,
  terminalRequest as run,
  terminalRule as newRule,
} from '../testing/approval-requests.js';
import { onEveryDatabase } from '../testing/databases.js';
import { TestLogs } from '../testing/logs.js';
import type { ApprovalService } from './approval.service.js';
import type { RulesStore } from './rules.store.js';

const never = new AbortController().signal;
const forPlan = {
  verdict: 'rejected',
  reason: expect.stringContaining('plan.update'),
  by: 'server',
};

onEveryDatabase('the mode plan', (databases) => {
  let logs: TestLogs;
  let bench: ApprovalBench;
  let rules: RulesStore;
  let approvals: ApprovalService;

  const wire = () => {
    bench = new ApprovalBench(logs);
    ({ rules, approvals } = bench);
    // No call that is held back runs by itself, however long a test takes.
    approvals.delayMs = 3_600_000;
  };
  const summary = () => logs.log.summary('s');
  const isAsked = (session: string) =>
    until('a question', async () => (await logs.log.lastSeq(session)) >= 4);

  beforeEach(async () => {
    logs = await new TestLogs(databases).open();
    wire();
    await logs.session('s');
  });
  afterEach(() => logs.close());

  it('refuses all but reads, whatever a rule allows, until the plan is approved', async () => {
    await logs.session('p', { approvals: 'plan' });
    await rules.create(newRule());
    await rules.create(newRule({ operation: 'egress', pattern: 'example.org:443' }));
    let count = 0;
    const call = (operation: string, input: object) => {
      const request = { id: `p${count++}`, operation, input, risk: 'read', subject: '' } as const;
      return approvals.request('p', request, never);
    };
    const changing: [string, object][] = [
      ['files.write', { path: 'a', content: '' }],
      ['terminal.run', { command: 'npm test x' }],
      ['web.fetch', { url: 'https://example.org' }],
      ['browser.open', { url: 'http://localhost:3000' }],
    ];
    for (const [operation, input] of changing)
      expect(await call(operation, input)).toMatchObject(forPlan);
    expect(await approvals.request('p', egress, never)).toMatchObject({ verdict: 'rejected' });
    expect(await approvals.withoutAsking('p', { ...egress, id: 'e2' })).toMatchObject({
      verdict: 'rejected',
    });
    for (const [operation, input] of [
      ['files.read', { path: 'a' }],
      ['plan.update', { markdown: '- [ ] a' }],
    ] as const)
      expect(await call(operation, input)).toEqual({ verdict: 'approved' });
    await bench.turnTo('p', 'ask');
    for (const [operation, input] of changing.slice(0, 2))
      expect(await call(operation, input)).toMatchObject({ verdict: 'approved' });
  });

  it('rejects a read that a rule rejects, and runs any other', async () => {
    await logs.session('p', { approvals: 'plan' });
    const pattern = '*.pem';
    await rules.create(newRule({ operation: 'files.read', pattern, verdict: 'rejected' }));
    const read = (id: string, path: string) => {
      const request = { id, operation: 'files.read', input: { path }, risk: 'read' } as const;
      return approvals.request('p', { ...request, subject: path }, never);
    };
    expect(await read('r1', 'key.pem')).toMatchObject({ verdict: 'rejected', by: 'rule' });
    expect(await read('r2', 'key.txt')).toEqual({ verdict: 'approved' });
  });

  it('a call that waits or is delayed is rejected once the user wants a plan first', async () => {
    await logs.session('d', { approvals: 'delay' });
    const delayed = approvals.request('d', run('c1'), never);
    const asked = approvals.request('s', run('c1'), never);
    const host = approvals.request('s', egress, never);
    await bench.waits(2);
    await isAsked('d');
    for (const session of ['d', 's']) await bench.turnTo(session, 'plan');
    expect(await Promise.all([delayed, asked])).toMatchObject([forPlan, forPlan]);
    // A host can still be allowed: a rejected one would stay rejected after the plan was approved.
    expect((await summary()).waitingFor).toMatchObject([{ id: 'e1' }]);
    await approvals.answer('s', { id: 'e1', caller: ownerCaller }, { verdict: 'approved' });
    expect(await host).toEqual({ verdict: 'approved' });
  });

  it('a delayed call of a paused session does not run once the user wants a plan first', async () => {
    await logs.session('d', { approvals: 'delay' });
    const held = approvals.request('d', run('c1'), never);
    await isAsked('d');
    await logs.log.append('d', [newEvent('user', 'pause', { args: {}, message: 'Paused.' })]);
    await bench.turnTo('d', 'plan');
    await logs.log.append('d', [newEvent('user', 'resume', { args: {}, message: 'On.' })]);
    expect(await held).toMatchObject(forPlan);
  });

  it('a question of a killed server is decided by the mode of now when the agent asks again', async () => {
    for (const [session, mode] of [
      ['d', 'delay'],
      ['a', 'ask'],
      ['same', 'ask'],
    ] as const) {
      await logs.session(session, { approvals: mode });
      void approvals.request(session, run('c1'), never);
      await isAsked(session);
    }
    await logs.reopen();
    wire();
    await bench.turnTo('d', 'plan');
    await bench.turnTo('a', 'plan');
    expect(await approvals.request('d', run('c1'), never)).toMatchObject(forPlan);
    expect(await approvals.request('a', run('c1'), never)).toMatchObject(forPlan);
    const again = approvals.request('same', run('c1'), never);
    await approvals.answer('same', { id: 'c1', caller: ownerCaller }, { verdict: 'approved' });
    expect(await again).toEqual({ verdict: 'approved' });
  });
});
