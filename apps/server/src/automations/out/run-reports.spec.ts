import { newEvent, type AgentEvent } from '@belay/protocol';
import { TestLogs } from '../../testing/logs.js';
import { RunReports } from './run-reports.js';

const agentEvent = (n: number, action: string, args: object, more: object): AgentEvent => ({
  n,
  time: new Date().toISOString(),
  action,
  args: { ...args },
  message: action,
  ...more,
});

describe('what an agent handed in', () => {
  let logs: TestLogs;
  let n: number;
  beforeEach(async () => {
    logs = await new TestLogs().open();
    await logs.session('s', { report: true });
    await logs.log.nextEpoch('s');
    n = 0;
  });
  afterEach(() => logs.close());

  const says = (action: string, args: object, more: object = {}) =>
    logs.log.appendFromAgent('s', 1, [agentEvent(++n, action, args, more)]);
  const calls = async (id: string, summary: string, ok = true) => {
    await says('report', { summary }, { id });
    const output = ok ? {} : { code: 'rejected', message: 'No.' };
    await says('result', { operation: 'report', ok, output, seconds: 0 }, { id });
  };
  const found = () => new RunReports(logs.log).reportOf('s');

  it('is the last call that was recorded', async () => {
    await calls('a', 'First.');
    await calls('b', 'Second.');
    await calls('c', 'Refused.', false);
    await says('report', { summary: 'Unfinished.' }, { id: 'd' });
    expect(await found()).toEqual({ summary: 'Second.', comments: [], replies: [] });
  });

  it('is not taken from anyone but the agent', async () => {
    await calls('a', 'Its own.');
    const forged = { args: { summary: 'Forged.' }, message: '', id: 'u' };
    await logs.log.append('s', [{ source: 'user', action: 'report', ...forged }]);
    const result = { operation: 'report', ok: true, output: {}, seconds: 0 };
    await logs.log.append('s', [
      newEvent('user', 'result', { args: result, message: '', id: 'u' }),
    ]);
    expect(await found()).toMatchObject({ summary: 'Its own.' });
  });

  it('is what was said last where there is no report', async () => {
    expect(await found()).toBeNull();
    await says('say', { text: 'Looking.', calls: [] });
    await says('say', { text: ' It works now. ', calls: [] });
    await says('say', { text: '', calls: [] });
    expect(await found()).toMatchObject({ summary: 'It works now.' });
    await says('finish', { summary: 'Done.' }, { id: 'f' });
    expect(await found()).toMatchObject({ summary: 'Done.' });
  });
});
