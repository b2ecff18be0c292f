import { newEvent, type Event, type NewEvent } from '@belay/protocol';
import type { LineOutput } from './output.js';
import { Transcript } from './transcript.js';

let lines: string[];
let transcript: Transcript;
beforeEach(() => {
  lines = [];
  const output: LineOutput = {
    width: 60,
    line: (text) => void lines.push(...text.split('\n')),
    json: () => undefined,
    style: (_, text) => text,
  };
  transcript = new Transcript(output);
});

let seq = 0;
const see = (event: NewEvent): string[] => {
  lines.length = 0;
  seq += 1;
  transcript.see({ seq, time: '2026-01-01T00:00:00.000Z', ...event } as Event);
  return lines;
};
const call = (action: string, args: Event['args'], subject = ''): NewEvent => ({
  source: 'agent',
  action,
  id: 'c',
  args,
  message: `${action} ${subject}`.trim(),
});
const result = (operation: string, output: unknown, ok = true): NewEvent =>
  newEvent('agent', 'result', {
    args: { operation, ok, output, seconds: 0.7 },
    message: `${operation} ended`,
    id: 'c',
  });
const ran = (text: string, exitCode: number | null, status = 'exited') =>
  result('terminal.run', {
    terminal: 'main',
    status,
    exitCode,
    seconds: 0.72,
    directory: '/workspace',
    text,
    omittedBytes: 0,
    from: 0,
    to: text.length,
  });
const plan = (markdown: string) =>
  newEvent('agent', 'plan', { args: { markdown }, message: 'plan' });

describe('a transcript', () => {
  it('shows a command, the end of its output and how it ended', () => {
    expect(see(call('terminal.run', { command: 'npm test\necho x' }))).toEqual([
      '$ npm test',
      '  echo x',
    ]);
    expect(see(ran('\none\ntwo\n\n', 0))).toEqual(['  │ one', '  │ two', '  ✓ 700 ms']);
    const many = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n');
    expect(see(ran(many, 2))).toEqual([
      '  │ … 22 lines before',
      ...Array.from({ length: 8 }, (_, index) => `  │ line ${index + 22}`),
      '  ✗ exit code 2 700 ms',
    ]);
    expect(see(ran('', null, 'timeout'))).toEqual(['  ✗ timed out 700 ms']);
    // Programs of other vendors do not always tell it.
    expect(see(ran('', null))).toEqual(['  ended 700 ms']);
    const server = { command: 'npm start', terminal: 'server', background: true };
    expect(see(call('terminal.run', server))).toEqual([
      '$ npm start  in server, in the background',
    ]);
  });

  it('tells what a user did by hand from what the agent did', () => {
    const user = { source: 'user' } as const;
    expect(see({ ...call('files.write', { path: 'a.js' }, 'a.js'), ...user })).toEqual([
      '● files.write a.js  by hand',
    ]);
    expect(see({ ...call('terminal.run', { command: 'ls', terminal: 'main' }), ...user })).toEqual([
      '$ ls  by hand',
    ]);
    const path = 'a'.repeat(99);
    const [long = ''] = see({ ...call('files.write', { path }, path), ...user });
    expect(long).toMatch(/…  by hand$/);
    expect(long.length).toBeLessThanOrEqual(60);
  });

  it('shows what an edit put where, and remembers the files', () => {
    expect(see(call('files.edit', { path: 'a.js' }, 'a.js'))).toEqual(['● files.edit a.js']);
    const args = { path: 'a.js', line: 3, change: 'REPLACE' as const, content: ['x', 'y'] };
    expect(see(newEvent('agent', 'code', { args: { ...args, removed: 1 }, message: '' }))).toEqual([
      '  a.js:3  +2 −1',
      '  + x',
      '  + y',
    ]);
    const files = [{ path: 'a.js', added: 2, removed: 1 }];
    see(
      newEvent('agent', 'commit', {
        args: { commit: 'c'.repeat(40), parent: null, files },
        message: '',
      }),
    );
    expect([...transcript.changed]).toEqual(['a.js']);
  });

  it('shows a plan whole once, then what is new', () => {
    expect(see(plan('# Fix it\n\n- [ ] Run\n- [ ] Fix\n'))).toEqual([
      '☰ Fix it · 0 of 2',
      '  ○ Run',
      '  ○ Fix',
    ]);
    expect(see(plan('# Fix it\n\n- [x] Run\n- [ ] Fix\n'))).toEqual([
      '☰ Plan · 1 of 2',
      '  ✓ Run',
    ]);
    expect(see(plan('# Fix it\n\n- [x] Run\n- [ ] Fix\n'))).toEqual([]);
  });

  it('prints why a call failed, and omits empty results', () => {
    expect(see(result('files.read', {}))).toEqual([]);
    const error = { code: 'not_found', message: 'There is no file x.' };
    expect(see(result('files.read', error, false))).toEqual(['  ✗ There is no file x.']);
    expect(see(result('terminal.run', { ...error, code: 'rejected' }, false))).toEqual([]);
  });

  it('prints what actions and MCP tools printed, and how they ended', () => {
    const output = { text: 'a\nb\n', errors: 'key is missing', exitCode: 3, seconds: 1 };
    expect(see(result('action.fetch', output))).toEqual([
      '  │ a',
      '  │ b',
      '  │ key is missing',
      '  │ [exit code 3]',
    ]);
    expect(see(result('mcp.sums.add', { text: '3' }))).toEqual(['  │ 3']);
    const started = { background: 'c', text: 'It is running in the background.' };
    expect(see(result('action.fetch', started))).toEqual([]);
  });

  it('names the agent of another vendor beside the model', () => {
    const agent = { name: 'codex', version: '1.2.3', protocol: 'acp' as const };
    const args = { task: 'Fix it', model: 'openai:gpt', sandbox: 'hardened' as const, agent };
    const start = { ...newEvent('user', 'start', { args, message: 'Fix it' }) };
    expect(see(start)).toEqual([
      '▶ Fix it',
      '  codex 1.2.3 · openai:gpt · asks before commands · network: packages',
    ]);
  });

  it('prints the agent’s last message in full', () => {
    const reason = 'done '.repeat(100).trim();
    expect(
      see(newEvent('server', 'state', { args: { state: 'finished', reason }, message: '' })),
    ).toEqual(['', '■ finished', reason]);
  });

  it('shows signs instead of doing what an agent writes to the terminal', () => {
    const evil = '\u001b]52;c;cm0=\u0007 \u202etxt';
    const shown = [
      ...see(newEvent('agent', 'say', { args: { text: evil, calls: [] }, message: '' })),
      ...see(call('terminal.run', { command: evil })),
      ...see(call('files.read', {}, evil)),
      ...see(ran(evil, 0)),
      ...see(plan(`- [ ] ${evil}`)),
      ...see(newEvent('server', 'state', { args: { state: 'failed', reason: evil }, message: '' })),
    ].join('\n');
    expect(shown).toContain('␛]52;c;cm0=␇');
    // oxlint-disable-next-line no-control-regex
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  });
});
