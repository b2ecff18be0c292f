import { isEvent, newEvent, type ApprovalAnswer } from '@belay/protocol';
import { until } from '@belay/testing';
import { ownerCaller } from '../access/caller.js';
import { ApprovalBench } from '../testing/approval-bench.js';
import { TestLogs } from '../testing/logs.js';
import { RefusedHosts, type HostQuestionTimeouts } from './refused-hosts.js';

describe('questions about refused hosts', () => {
  const target = { host: 'a.test', port: 443 };
  const first = 'egress:a.test:443';
  const second = `${first}#2`;
  let logs: TestLogs;
  let bench: ApprovalBench;
  beforeEach(async () => {
    logs = await new TestLogs().open();
    bench = new ApprovalBench(logs);
    for (const id of ['s', 't']) await logs.session(id);
  });
  afterEach(() => logs.close());

  const withTimeouts = (timeouts: Partial<HostQuestionTimeouts> = {}) => {
    const long = { clientTimeoutMs: 60_000, questionTimeoutMs: 60_000, rejectionTimeoutMs: 60_000 };
    return new RefusedHosts(bench.approvals, logs.store, { ...long, ...timeouts });
  };
  /** As after a restart of the server, or at one that takes the session over. */
  const restarted = async (timeouts: Partial<HostQuestionTimeouts> = {}) => {
    await logs.reopen();
    bench = new ApprovalBench(logs);
    return withTimeouts(timeouts);
  };
  const asked = async (session = 's') => {
    const events = await logs.log.read(session, { after: 0 });
    return events.filter((event) => isEvent(event, 'approval')).map(({ id }) => id);
  };
  const asks = (ids: string[], session = 's') =>
    until('the questions', async () => (await asked(session)).length === ids.length).then(
      async () => expect(await asked(session)).toEqual(ids),
    );
  const answer = (id: string, verdict: ApprovalAnswer['verdict'], session = 's') =>
    bench.approvals.answer(session, { id, caller: ownerCaller }, { verdict });

  it('hold a client only for a while; the question stays', async () => {
    expect(await withTimeouts({ clientTimeoutMs: 0 }).ask('s', target)).toBeNull();
    const hosts = withTimeouts();
    const both = [hosts.ask('s', target), hosts.ask('s', target)];
    await asks([first]);
    await answer(first, 'approved');
    expect(await Promise.all(both)).toEqual([{ verdict: 'approved' }, { verdict: 'approved' }]);
    expect(await asked()).toEqual([first]);
  });

  it('are new ones for another session or port, and some time after a no', async () => {
    const hosts = withTimeouts({ rejectionTimeoutMs: 0 });
    const one = hosts.ask('s', target);
    await asks([first]);
    const all = [one, hosts.ask('t', target), hosts.ask('s', { ...target, port: 80 })];
    await asks([first], 't');
    await asks([first, 'egress:a.test:80']);
    await answer(first, 'rejected', 't');
    for (const id of await asked()) await answer(id ?? '', 'rejected');
    await Promise.all(all);
    void hosts.ask('s', target);
    await asks([first, 'egress:a.test:80', second]);
  });

  it('are joined after a restart while they are open', async () => {
    void withTimeouts().ask('s', target);
    await asks([first]);
    const joined = (await restarted()).ask('s', target);
    await answer(first, 'approved');
    expect(await joined).toEqual({ verdict: 'approved' });
    expect(await asked()).toEqual([first]);
  });

  it('have a no that counts for its time, and a yes for good, also after restarts', async () => {
    const no = withTimeouts().ask('s', target);
    await asks([first]);
    await answer(first, 'rejected');
    expect(await no).toEqual({ verdict: 'rejected' });
    expect(await (await restarted()).ask('s', target)).toEqual({ verdict: 'rejected' });
    expect(await asked()).toEqual([first]);
    const yes = (await restarted({ rejectionTimeoutMs: 0 })).ask('s', target);
    await asks([first, second]);
    await answer(second, 'approved');
    expect(await yes).toEqual({ verdict: 'approved' });
    const later = await restarted({ rejectionTimeoutMs: 0 });
    expect(await later.ask('s', target)).toEqual({ verdict: 'approved' });
    expect(await asked()).toEqual([first, second]);
  });

  it('are put anew at once after one that was withdrawn, and after a start of the session', async () => {
    const withdrawn = await withTimeouts({ questionTimeoutMs: 0 }).ask('s', target);
    expect(withdrawn).toMatchObject({ verdict: 'rejected', by: 'server' });
    const hosts = await restarted();
    const yes = hosts.ask('s', target);
    await asks([first, second]);
    await answer(second, 'approved');
    await yes;
    const settings = await logs.log.settings('s');
    await logs.log.append('s', [newEvent('user', 'start', { args: settings, message: 'Again' })]);
    void hosts.ask('s', target);
    await asks([first, second, `${first}#3`]);
  });
});
