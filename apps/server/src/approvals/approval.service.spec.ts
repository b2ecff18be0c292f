import { isEvent, newEvent } from '@belay/protocol';
import { itLong, pause, staysTrue, until } from '@belay/testing';
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
import { RulePreviews } from './rule-preview.js';
import type { RulesStore } from './rules.store.js';

const never = new AbortController().signal;

onEveryDatabase('approvals', (databases) => {
  let logs: TestLogs;
  let bench: ApprovalBench;
  let rules: RulesStore;
  let approvals: ApprovalService;

  const wire = () => {
    bench = new ApprovalBench(logs);
    ({ rules, approvals } = bench);
  };
  const summary = () => logs.log.summary('s');
  const actions = async () => (await logs.log.read('s', { after: 3 })).map((event) => event.action);

  beforeEach(async () => {
    logs = await new TestLogs(databases).open();
    wire();
    await logs.session('s');
  });
  afterEach(() => logs.close());

  it('asks the user before an execution, and continues once it is answered', async () => {
    const verdict = approvals.request('s', run('c1'), never);
    await bench.waits(1);
    expect(await summary()).toMatchObject({
      state: 'waiting',
      reason: expect.stringContaining('npm test'),
    });
    await approvals.answer('s', { id: 'c1', caller: ownerCaller }, { verdict: 'approved' });
    expect(await verdict).toEqual({ verdict: 'approved' });
    expect(await summary()).toMatchObject({ state: 'running', waitingFor: [] });
  });

  it('takes a rule only if it decides the call that was asked about', async () => {
    const verdict = approvals.request('s', run('c1', 'npm test 2>&1 | tail -20'), never);
    await bench.waits(1);
    const answer = (pattern: string) => {
      const remember = { scope: 'session', operation: 'terminal.run', pattern } as const;
      const always = { verdict: 'approved', remember: { ...remember, expires: null } } as const;
      return approvals.answer('s', { id: 'c1', caller: ownerCaller }, always);
    };
    await expect(answer('npm test*')).rejects.toMatchObject({
      code: 'invalid_input',
      message:
        'The pattern npm test* does not match npm test 2>&1 | tail -20. Change the pattern, or allow the call once.',
    });
    await bench.waits(1);
    expect(await rules.list()).toEqual([]);
    await answer('npm test 2>&1 | tail *');
    expect(await verdict).toEqual({ verdict: 'approved' });
    expect(await approvals.request('s', run('c2', 'npm test 2>&1 | tail -5'), never)).toMatchObject(
      { verdict: 'approved' },
    );
  });

  it('lets the user change the command, and nothing else, before it is allowed', async () => {
    const verdict = approvals.request('s', run('c1', 'rm -rf /'), never);
    await bench.waits(1);
    const answer = (edited: Record<string, string>, more: object = {}) =>
      approvals.answer(
        's',
        { id: 'c1', caller: ownerCaller },
        { verdict: 'approved', edited, ...more },
      );
    const refused = { code: 'invalid_input' };
    await expect(answer({ stdin: 'x' })).rejects.toMatchObject(refused);
    await expect(answer({ command: '' })).rejects.toMatchObject(refused);
    await expect(answer({ command: 'ls' }, { verdict: 'rejected' })).rejects.toMatchObject(refused);
    await answer({ command: 'rm -rf build' });
    expect(await verdict).toEqual({ verdict: 'approved', edited: { command: 'rm -rf build' } });
    const events = await logs.log.read('s', { after: 0 });
    expect(events.find(({ action }) => action === 'approve')).toMatchObject({
      source: 'user',
      message: 'Approved by Owner, with changes.',
      args: {
        edited: { command: 'rm -rf build' },
        by: { kind: 'caller', id: 'owner', label: 'Owner' },
      },
    });
    expect(await approvals.request('s', run('c1', 'rm -rf /'), never)).toEqual(await verdict);
  });

  it('refuses to change a call that the agent’s own program runs', async () => {
    const verdict = approvals.request('s', { ...run('c1', 'rm -rf /'), fixed: true }, never);
    await bench.waits(1);
    const call = { id: 'c1', caller: ownerCaller };
    const edited = { command: 'rm -rf build' };
    await expect(approvals.answer('s', call, { verdict: 'approved', edited })).rejects.toThrow(
      'The agent’s own program runs this call, so it cannot be changed.',
    );
    await approvals.answer('s', call, { verdict: 'approved' });
    expect(await verdict).toEqual({ verdict: 'approved' });
  });

  it('asks in the mode safe before every action, and no longer once the mode is another', async () => {
    await logs.session('safe', { approvals: 'safe' });
    const call = (id: string, operation: string, input: object) => {
      const request = { id, operation, input, risk: 'read', subject: '' } as const;
      return approvals.request('safe', request, never);
    };
    const verdicts = [
      call('w', 'files.write', { path: 'a', content: '' }),
      call('r', 'files.read', { path: 'a' }),
      call('l', 'browser.open', { url: 'http://localhost:3000' }),
    ];
    expect(await call('p', 'plan.update', { markdown: '' })).toEqual({ verdict: 'approved' });
    const waiting = async () => (await logs.log.summary('safe')).waitingFor.map(({ id }) => id);
    await until('all questions', async () => (await waiting()).length === 3);
    await approvals.answer('safe', { id: 'w', caller: ownerCaller }, { verdict: 'rejected' });
    expect(await verdicts[0]).toMatchObject({ verdict: 'rejected' });
    await bench.turnTo('safe', 'ask');
    expect(await Promise.all(verdicts.slice(1))).toEqual([
      { verdict: 'approved' },
      { verdict: 'approved' },
    ]);
    expect(await waiting()).toEqual([]);
  });

  it('a change of the mode allows no call that a rule made meanwhile rejects', async () => {
    const verdicts = [run('c1', 'npm publish'), run('c2')].map((call) =>
      approvals.request('s', call, never),
    );
    await bench.waits(2);
    await rules.create(newRule({ pattern: 'npm publish', verdict: 'rejected' }));
    await bench.turnTo('s', 'auto');
    expect(await Promise.all(verdicts)).toMatchObject([
      { verdict: 'rejected', by: 'rule' },
      { verdict: 'approved' },
    ]);
  });

  it('answers what else waits by the rule that an answer made', async () => {
    const egress = (host: string) => {
      const subject = `${host}:443`;
      const question = { id: `egress:${subject}`, input: {}, subject, risk: 'network' } as const;
      return approvals.request('s', { ...question, operation: 'egress' }, never);
    };
    const verdicts = ['github.com', 'codeload.github.com', 'evil.example'].map(egress);
    await bench.waits(3);
    const remember = {
      scope: 'session',
      operation: 'egress',
      pattern: '@npm',
      expires: null,
    } as const;
    await approvals.answer(
      's',
      { id: 'egress:github.com:443', caller: ownerCaller },
      { verdict: 'approved', remember },
    );
    expect(await Promise.all(verdicts.slice(0, 2))).toMatchObject([
      { verdict: 'approved' },
      { verdict: 'approved' },
    ]);
    expect((await summary()).waitingFor).toMatchObject([{ subject: 'evil.example:443' }]);
  });

  it('logs who decided, also where nobody was asked', async () => {
    const rule = await rules.create(newRule({ pattern: 'npm publish', verdict: 'rejected' }));
    await approvals.request('s', run('c1', 'npm publish'), never);
    const asked = approvals.request('s', run('c2'), never);
    await bench.waits(1);
    const caller = { ...ownerCaller, id: 'token:1', label: 'CI' };
    await approvals.answer('s', { id: 'c2', caller }, { verdict: 'rejected', reason: 'No.' });
    await asked;
    await bench.turnTo('s', 'auto');
    await approvals.request('s', run('c3'), never);
    // Its own event says that it was refused.
    await approvals.request('s', egress, never);
    const events = await logs.log.read('s', { after: 0 });
    const decisions = events.flatMap((event) =>
      isEvent(event, 'approve') || isEvent(event, 'reject')
        ? [[event.id, event.source, event.message, event.args.by]]
        : [],
    );
    expect(decisions).toEqual([
      [
        'c1',
        'server',
        'Rejected by a rule: A rule rejects this call.',
        { kind: 'rule', rule: rule.id },
      ],
      ['c2', 'user', 'Rejected by CI: No.', { kind: 'caller', id: 'token:1', label: 'CI' }],
      ['c3', 'server', 'Approved by the mode “At once”.', { kind: 'mode', mode: 'auto' }],
    ]);
  });

  it('returns the reason of a rejection to the caller', async () => {
    const verdict = approvals.request('s', run('c1'), never);
    await bench.waits(1);
    await approvals.answer(
      's',
      { id: 'c1', caller: ownerCaller },
      { verdict: 'rejected', reason: 'Use pnpm.' },
    );
    expect(await verdict).toEqual({ verdict: 'rejected', reason: 'Use pnpm.' });
  });

  it('lets several wait at once, each with its own answer', async () => {
    const first = approvals.request('s', run('c1'), never);
    const second = approvals.request('s', run('c2', 'make'), never);
    await bench.waits(2);
    await approvals.answer(
      's',
      { id: 'c2', caller: ownerCaller },
      { verdict: 'rejected', reason: 'No.' },
    );
    expect((await second).verdict).toBe('rejected');
    expect((await summary()).state).toBe('waiting');
    await approvals.answer('s', { id: 'c1', caller: ownerCaller }, { verdict: 'approved' });
    expect((await first).verdict).toBe('approved');
    expect((await summary()).state).toBe('running');
  });

  it('does not ask about reading and writing, whatever risk the agent states', async () => {
    const read = { ...run('c1'), operation: 'files.read', input: { path: 'a' }, subject: 'a' };
    expect(await approvals.request('s', read, never)).toEqual({ verdict: 'approved' });
    const sly = approvals.request(
      's',
      { ...run('c2', 'rm -rf x'), risk: 'read', subject: 'ls' },
      never,
    );
    await bench.waits(1);
    expect((await summary()).waitingFor[0]).toMatchObject({ risk: 'execute', subject: 'rm -rf x' });
    await approvals.answer('s', { id: 'c2', caller: ownerCaller }, { verdict: 'rejected' });
    expect((await sly).verdict).toBe('rejected');
  });

  it('asks before a page elsewhere is opened, and not for one in the sandbox', async () => {
    const open = (id: string, url: string) =>
      approvals.request(
        's',
        { id, operation: 'browser.open', input: { url }, risk: 'network', subject: url },
        never,
      );
    expect(await open('b1', 'http://localhost:8080/a')).toEqual({ verdict: 'approved' });
    const elsewhere = open('b2', 'https://localhost.example.org/');
    await bench.waits(1);
    expect((await summary()).waitingFor[0]?.subject).toBe('localhost.example.org:443');
    await approvals.answer('s', { id: 'b2', caller: ownerCaller }, { verdict: 'rejected' });
    await elsewhere;
  });

  it('in the mode auto runs calls at once, yet opens no new host', async () => {
    await logs.session('a', { approvals: 'auto' });
    expect(await approvals.request('a', run('c1'), never)).toEqual({ verdict: 'approved' });
    expect(await approvals.request('a', egress, never)).toMatchObject({ verdict: 'rejected' });
    await rules.create(newRule({ operation: 'egress', pattern: 'example.org:443' }));
    expect(await approvals.request('a', { ...egress, id: 'e2' }, never)).toEqual({
      verdict: 'approved',
    });
  });

  it('in the mode delay holds a call back, without waiting for the user', async () => {
    await logs.session('d', { approvals: 'delay' });
    approvals.delayMs = 3_600_000;
    const rejected = approvals.request('d', run('c2'), never);
    await until('a held call', async () => (await logs.log.lastSeq('d')) >= 4);
    expect((await logs.log.summary('d')).state).toBe('running');
    approvals.delayMs = 200;
    const from = Date.now();
    const held = approvals.request('d', run('c1'), never);
    await approvals.answer(
      'd',
      { id: 'c2', caller: ownerCaller },
      { verdict: 'rejected', reason: 'Wait.' },
    );
    expect(await rejected).toEqual({ verdict: 'rejected', reason: 'Wait.' });
    expect(await held).toEqual({ verdict: 'approved' });
    expect(Date.now() - from).toBeGreaterThanOrEqual(190);
  });

  it('in the mode delay gives the user two seconds from the event on, however late it is stored', async () => {
    await logs.session('d', { approvals: 'delay' });
    const append = logs.log.append.bind(logs.log);
    let stored = 0;
    jest.spyOn(logs.log, 'append').mockImplementationOnce(async (...given) => {
      await pause(20, 'others are stored before it');
      stored = Date.now();
      return append(...given);
    });
    const verdict = approvals.request('d', run('c1'), never);
    const asked = await until('the question', async () =>
      (await logs.log.read('d', { after: 0 })).find((event) => isEvent(event, 'approval')),
    );
    expect(Date.parse(String(asked.args.until))).toBeGreaterThanOrEqual(stored + 2_000);
    await approvals.answer('d', { id: 'c1', caller: ownerCaller }, { verdict: 'approved' });
    expect(await verdict).toEqual({ verdict: 'approved' });
  });

  itLong('a pause holds a delayed call until the session resumes', async () => {
    await logs.session('d', { approvals: 'delay' });
    approvals.delayMs = 100;
    const pause = newEvent('user', 'pause', { args: {}, message: 'Paused.' });
    // While the call is held back, before it may run.
    logs.log.subscribe('d', (events) => {
      if (events.some(({ action }) => action === 'approval')) void logs.log.append('d', [pause]);
    });
    let decided = false;
    const held = approvals.request('d', run('c1'), never).finally(() => (decided = true));
    await until('the pause', async () => (await logs.log.summary('d')).state === 'paused');
    await staysTrue('the call is held', 1_000, () => !decided);
    await logs.log.append('d', [newEvent('user', 'resume', { args: {}, message: 'On.' })]);
    expect(await held).toEqual({ verdict: 'approved' });
  });

  it('an answer during a pause leaves the session paused', async () => {
    const verdict = approvals.request('s', run('c1'), never);
    await bench.waits(1);
    await logs.log.append('s', [newEvent('user', 'pause', { args: {}, message: 'Paused.' })]);
    await approvals.answer('s', { id: 'c1', caller: ownerCaller }, { verdict: 'approved' });
    expect((await verdict).verdict).toBe('approved');
    expect((await summary()).state).toBe('paused');
  });

  it('a stop rejects everything that waits', async () => {
    const verdict = approvals.request('s', run('c1'), never);
    await bench.waits(1);
    await logs.log.append('s', [newEvent('user', 'stop', { args: {}, message: 'Stopped.' })]);
    expect(await verdict).toMatchObject({ verdict: 'rejected' });
    expect(await summary()).toMatchObject({ state: 'stopped', waitingFor: [] });
  });

  it('a question that waits still waits after the server was killed', async () => {
    void approvals.request('s', run('c1'), never);
    await bench.waits(1);
    await logs.reopen();
    wire();
    expect(await summary()).toMatchObject({ state: 'waiting', waitingFor: [{ id: 'c1' }] });
    const again = approvals.request('s', run('c1'), never);
    await approvals.answer('s', { id: 'c1', caller: ownerCaller }, { verdict: 'approved' });
    expect(await again).toEqual({ verdict: 'approved' });
    expect((await actions()).filter((action) => action === 'approval')).toHaveLength(1);
  });

  it('an answer given while the agent was away is there when it asks again', async () => {
    void approvals.request('s', run('c1'), never);
    await bench.waits(1);
    await logs.reopen();
    wire();
    await approvals.answer(
      's',
      { id: 'c1', caller: ownerCaller },
      { verdict: 'rejected', reason: 'No.' },
    );
    const again = await approvals.request('s', run('c1'), never);
    expect(again).toEqual({ verdict: 'rejected', reason: 'No.' });
  });

  it('turning a session to auto lets run what waits, but opens no host', async () => {
    const call = approvals.request('s', run('c1'), never);
    const host = approvals.request('s', egress, never);
    await bench.waits(2);
    await bench.turnTo('s', 'auto');
    expect(await call).toEqual({ verdict: 'approved' });
    expect((await summary()).waitingFor).toMatchObject([{ id: 'e1' }]);
    await approvals.answer('s', { id: 'e1', caller: ownerCaller }, { verdict: 'rejected' });
    await host;
  });

  it('a call that is cancelled no longer waits', async () => {
    const cancel = new AbortController();
    const verdict = approvals.request('s', run('c1'), cancel.signal);
    await bench.waits(1);
    cancel.abort();
    expect((await verdict).verdict).toBe('rejected');
    expect((await summary()).waitingFor).toEqual([]);
  });

  it('fails when no question waits under an id', async () => {
    const answer = approvals.answer(
      's',
      { id: 'c9', caller: ownerCaller },
      { verdict: 'approved' },
    );
    await expect(answer).rejects.toMatchObject({ code: 'not_found' });
  });

  it('remembers an answer as a rule, counts its uses, and forgets it when revoked', async () => {
    const verdict = approvals.request('s', run('c1'), never);
    await bench.waits(1);
    await approvals.answer(
      's',
      { id: 'c1', caller: ownerCaller },
      {
        verdict: 'approved',
        remember: {
          scope: 'session',
          operation: 'terminal.run',
          pattern: 'npm test *',
          expires: null,
        },
      },
    );
    await verdict;
    expect(await approvals.request('s', run('c2', 'npm test -- a'), never)).toEqual({
      verdict: 'approved',
    });
    const [rule] = await rules.list();
    expect(rule).toMatchObject({ scope: 'session', session: 's', uses: 1 });
    await logs.session('other');
    void approvals.request('other', run('o1'), never);
    await until(
      'a question of the other session',
      async () => (await logs.log.summary('other')).waitingFor.length === 1,
    );
    await rules.remove(rule?.id ?? '');
    void approvals.request('s', run('c3'), never);
    await bench.waits(1);
    await expect(rules.remove('x')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('a rule that rejects wins; one that has expired no longer counts', async () => {
    const past = '2020-01-01T00:00:00Z';
    await rules.create(newRule({ pattern: 'npm publish', verdict: 'approved', expires: past }));
    await rules.create(newRule({ pattern: '*publish*', verdict: 'rejected' }));
    await rules.create(newRule({ pattern: '*' }));
    const verdict = await approvals.request('s', run('c1', 'npm publish'), never);
    expect(verdict).toMatchObject({ verdict: 'rejected' });
    const used = (await rules.list()).filter(({ uses }) => uses > 0);
    expect(used.map(({ pattern }) => pattern)).toEqual(['*publish*']);
  });

  it('a rule for a workspace counts in the sessions that share it', async () => {
    await logs.session('w1', { workspace: 'abc' });
    await logs.session('w2', { workspace: 'abc' });
    await rules.create(newRule({ scope: 'workspace', session: 'w1' }));
    expect(await approvals.request('w2', run('c1'), never)).toEqual({ verdict: 'approved' });
    const asked = approvals.request('s', run('c2'), never);
    await bench.waits(1);
    await approvals.answer('s', { id: 'c2', caller: ownerCaller }, { verdict: 'rejected' });
    await asked;
    await expect(rules.create(newRule({ scope: 'session' }))).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });

  it('shows which past calls a rule would have decided', async () => {
    for (const command of ['npm test', 'npm test -- a', 'npm test; ls']) {
      await logs.log.append('s', [
        { source: 'agent', action: 'terminal.run', args: { command }, message: command },
      ]);
    }
    const preview = await new RulePreviews(logs.log, rules).preview(newRule(), ownerCaller);
    expect(preview.matches).toBe(2);
    expect(preview.examples.map(({ subject }) => subject)).toEqual(['npm test', 'npm test -- a']);
  });
});
