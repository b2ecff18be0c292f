import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { newEvent, type ApprovalRequest } from '@belay/protocol';
import { pause, until } from '@belay/testing';
import { ownerCaller } from '../access/caller.js';
import { TestLogs } from '../testing/logs.js';
import { ApprovalService } from './approval.service.js';
import { RulesStore } from './rules.store.js';
import { askAtTerminal } from './ask-at-terminal.js';

const run = (id: string, command: string): ApprovalRequest => ({
  id,
  operation: 'terminal.run',
  input: { command },
  risk: 'execute',
  subject: command,
});
const { signal } = new AbortController();

describe('questions at the terminal of the server', () => {
  let logs: TestLogs;
  let approvals: ApprovalService;
  let input: PassThrough;
  let shown: string;
  let close: () => void;
  beforeEach(async () => {
    logs = await new TestLogs().open();
    approvals = new ApprovalService(logs.log, logs.store, new RulesStore(logs.database, logs.log));
    approvals.onModuleInit();
    await logs.session('s');
    input = new PassThrough();
    const output = new PassThrough();
    shown = '';
    output.on('data', (bytes: Buffer) => void (shown += bytes.toString()));
    close = askAtTerminal({ log: logs.log, approvals, input, output });
  });
  afterEach(async () => {
    close();
    input.end();
    await text(input);
    await logs.close();
  });
  const appears = (words: string) => until(words, () => shown.includes(words));
  const type = async (line: string) => {
    await pause(400, 'the user reads the question');
    input.write(`${line}\n`);
  };

  it('are asked one by one, with what would run, and answered with y, n or a reason', async () => {
    // A busy machine may take longer than a reader.
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    const verdicts = [run('c1', 'npm test'), run('c2', 'rm -rf x'), run('c3', 'make')].map((one) =>
      approvals.request('s', one, signal),
    );
    await appears('⚠ Session s: allow terminal.run?\n  npm test\n  [y]es · [n]o, or a reason: ');
    expect(shown).not.toContain('rm -rf x');
    // Typed before it could be read.
    input.write('y\n');
    await until('the prompt again', () => shown.split('[y]es').length === 3);
    clock.mockRestore();
    await type('');
    await type('Y');
    expect(await verdicts[0]).toEqual({ verdict: 'approved' });
    await appears('rm -rf x');
    await type('n');
    expect(await verdicts[1]).toEqual({ verdict: 'rejected', reason: 'The user said no.' });
    await appears('  make\n');
    await type('Use ninja.');
    expect(await verdicts[2]).toEqual({ verdict: 'rejected', reason: 'Use ninja.' });
  });

  it('are withdrawn when they are answered elsewhere or the session ends', async () => {
    const first = approvals.request('s', run('c1', 'one'), signal);
    const second = approvals.request('s', run('c2', 'two'), signal);
    await appears('  one\n');
    await approvals.answer('s', { id: 'c1', caller: ownerCaller }, { verdict: 'approved' });
    expect(await first).toEqual({ verdict: 'approved' });
    await appears('Already answered.');
    await appears('  two\n');
    const ended = { args: { state: 'stopped' as const, reason: null }, message: '' };
    await logs.log.append('s', [newEvent('server', 'state', ended)]);
    expect(await second).toMatchObject({ verdict: 'rejected' });
    await until('it is dropped', () => shown.split('Already answered.').length === 3);
    await type('y');
    expect(shown.endsWith('Already answered.\n')).toBe(true);
  });

  it('let a call that is held back be rejected, before other questions', async () => {
    await logs.session('t');
    await logs.log.append('t', [
      newEvent('user', 'change', { args: { approvals: 'delay' }, message: '' }),
    ]);
    const asked = approvals.request('s', run('c1', 'one'), signal);
    await appears('  one\n');
    const longerThanAnyTestMs = 3_600_000;
    approvals.delayMs = longerThanAnyTestMs;
    const held = approvals.request('t', run('c2', 'rm x'), signal);
    await appears('⚠ Session t: terminal.run\n  rm x\n  Runs in 2 s · [n]o');
    await type('n');
    expect(await held).toMatchObject({ verdict: 'rejected', reason: 'The user said no.' });
    await until('the question again', () => shown.split('  one\n').length === 3);
    await type('y');
    expect(await asked).toEqual({ verdict: 'approved' });
    expect(shown).not.toContain('It ran.');
    approvals.delayMs = 100;
    expect(await approvals.request('t', run('c3', 'ls'), signal)).toEqual({ verdict: 'approved' });
    await appears('It ran.');
    approvals.delayMs = longerThanAnyTestMs;
    const rejected = approvals.request('t', run('c4', 'rm y'), signal);
    await appears('  rm y\n');
    await approvals.answer('t', { id: 'c4', caller: ownerCaller }, { verdict: 'rejected' });
    expect(await rejected).toMatchObject({ verdict: 'rejected' });
    await appears('Already answered.');
    expect(shown.split('It ran.')).toHaveLength(2);
  });

  it('name the sessions that start on a joined machine', async () => {
    const settings = await logs.log.settings('s');
    const machine = { name: 'laptop', kind: 'bare' as const };
    const start = { args: { ...settings, machine, again: true }, message: '' };
    await logs.log.append('s', [newEvent('user', 'start', start)]);
    await appears('Session s starts on the machine laptop.\n');
  });

  it('attacks: show control characters and cut what nobody would read', async () => {
    const command = `echo \u001b[2J\u202e${'x'.repeat(50_000)}${'\ny'.repeat(100)}`;
    const verdict = approvals.request('s', run('c1', command), signal);
    await appears('more characters: the dashboard shows them.');
    expect(shown).toContain('echo ␛[2J<U+202E>xxx');
    expect(shown.length).toBeLessThan(9_000);
    await type('no');
    expect(await verdict).toMatchObject({ verdict: 'rejected' });
  });
});
