import { ApprovalBench } from '../testing/approval-bench.js';
import {
  hostRequest as egress,
  terminalRequest as run,
  terminalRule as newRule,
} from '../testing/approval-requests.js';
import { TestLogs } from '../testing/logs.js';
import type { ApprovalService } from './approval.service.js';
import type { RulesStore } from './rules.store.js';

const never = new AbortController().signal;

describe('the mode rules', () => {
  let logs: TestLogs;
  let bench: ApprovalBench;
  let rules: RulesStore;
  let approvals: ApprovalService;

  const summary = () => logs.log.summary('s');
  const request = (id: string, more: object) =>
    approvals.request('s', { ...run(id), ...more }, never);
  const actions = async () => (await logs.log.read('s', { after: 0 })).map(({ action }) => action);

  beforeEach(async () => {
    logs = await new TestLogs().open();
    bench = new ApprovalBench(logs);
    ({ rules, approvals } = bench);
    await logs.session('s', { approvals: 'rules' });
  });
  afterEach(() => logs.close());

  it('runs what a rule allows, refuses everything else with a sentence, and asks nobody', async () => {
    await rules.create(newRule());
    await rules.create(newRule({ operation: 'egress', pattern: 'example.com:443' }));
    const allowed = { verdict: 'approved' };
    const refused = (what: string) => ({
      verdict: 'rejected',
      by: 'server',
      reason: `The mode rules asks nobody, and no rule allows ${what}.`,
    });
    const host = (subject: string) => ({ ...egress, id: `egress:${subject}`, subject });
    expect(await request('c1', {})).toMatchObject(allowed);
    expect(await approvals.request('s', run('c2', 'npm publish'), never)).toEqual(
      refused('terminal.run npm publish'),
    );
    const page = (url: string) => ({
      operation: 'browser.open',
      risk: 'network',
      input: { url },
    });
    expect(await request('c3', page('http://example.org'))).toEqual(
      refused('browser.open example.org:80'),
    );
    expect(await approvals.request('s', host('example.org:443'), never)).toEqual(
      refused('example.org:443'),
    );
    expect(await approvals.request('s', host('example.com:443'), never)).toMatchObject(allowed);
    // In the sandbox itself, as in the mode `ask`.
    expect(await request('c4', page('http://localhost:3000'))).toEqual(allowed);
    const edit = { operation: 'files.write', risk: 'write', input: { path: 'a', content: '' } };
    expect(await request('c5', edit)).toEqual(allowed);
    expect(await summary()).toMatchObject({ state: 'running', waitingFor: [] });
    expect(await actions()).not.toContain('approval');
  });

  it('attacks: refuses a command that only begins as a rule allows', async () => {
    await rules.create(newRule());
    for (const command of ['npm test; rm -rf /', 'npm test && id', 'npm test\nid', 'npm tests'])
      expect(await approvals.request('s', run(command, command), never)).toMatchObject({
        verdict: 'rejected',
      });
    expect(await approvals.request('s', run('c1', 'npm test -- a.js'), never)).toMatchObject({
      verdict: 'approved',
    });
  });

  it('refuses the questions that were open before, whose sessions would wait for ever', async () => {
    await bench.turnTo('s', 'ask');
    const asked = approvals.request('s', run('c1'), never);
    await bench.waits(1);
    await bench.turnTo('s', 'rules');
    expect(await asked).toMatchObject({ verdict: 'rejected', by: 'server' });
    expect((await summary()).waitingFor).toEqual([]);
  });
});
