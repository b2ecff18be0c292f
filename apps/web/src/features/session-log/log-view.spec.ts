import type { Event } from '@belay/protocol';
import { hasFailed } from './call-result';
import { joinViews, viewOf } from './log-view';

const time = '2026-01-01T00:00:00Z';
const event = (seq: number, action: string, more: Partial<Event> = {}): Event => ({
  seq,
  time,
  source: 'agent',
  action,
  args: {},
  message: action,
  ...more,
});

const log: Event[] = [
  event(1, 'start', { source: 'user', args: { task: 'Fix it' } }),
  event(2, 'say', { args: { text: 'Running the tests.', calls: [] } }),
  event(3, 'terminal.run', { id: 'a', args: { command: 'npm test' } }),
  event(4, 'result', {
    id: 'a',
    args: {
      operation: 'terminal.run',
      ok: true,
      output: {
        terminal: 'main',
        status: 'exited',
        exitCode: 1,
        text: '',
        omittedBytes: 0,
        from: 0,
        to: 90,
        seconds: 1,
        directory: '.',
      },
    },
  }),
  event(5, 'plan', { args: { markdown: '- [ ] one' } }),
  event(6, 'files.edit', { id: 'b', args: { path: 'a.js' } }),
  event(7, 'code', { id: 'b', args: { path: 'a.js', line: 2, content: ['x'] } }),
  event(8, 'commit', { id: 'b', args: { commit: 'c0ffee0', files: [] } }),
  event(9, 'result', { id: 'b', args: { operation: 'files.edit', ok: true, output: {} } }),
  event(10, 'files.list', { id: 'c', source: 'user' }),
  event(11, 'plan', { args: { markdown: '- [x] one' } }),
  event(12, 'state', { source: 'server', args: { state: 'finished', reason: null } }),
];

describe('viewOf', () => {
  const view = viewOf(log);

  it('keeps the chat entries in order, without the user’s quiet calls', () => {
    expect(view.entries.map(({ kind, event }) => `${kind} ${event.seq}`)).toEqual([
      'message 1',
      'say 2',
      'call 3',
      'call 6',
    ]);
  });

  it('shows a pause once, and states that no other event tells', () => {
    const state = (seq: number, name: string) =>
      event(seq, 'state', { source: 'server', args: { state: name, reason: null } });
    const paused = event(1, 'pause', { source: 'user', args: { now: true } });
    const { entries } = viewOf([paused, state(2, 'paused'), state(3, 'failed')]);
    expect(entries.map((entry) => entry.event.seq)).toEqual([1, 3]);
  });

  it('finds results, commits and edits by call', () => {
    expect(view.results.get('a')?.seq).toBe(4);
    expect(view.commits.get('b')?.args.commit).toBe('c0ffee0');
    expect(view.edits.get('b')?.map((edit) => edit.seq)).toEqual([7]);
  });

  it('merges the user’s browser gestures into one entry, wherever pages are split', () => {
    const act = (seq: number, args: Event['args'], action = 'browser.type') =>
      event(seq, action, { id: `t${seq}`, source: 'user', args });
    const typing = [
      event(1, 'browser.open', { id: 'o', args: { url: 'http://localhost' } }),
      act(2, { text: 'a' }),
      event(3, 'result', { id: 't2', args: { operation: 'browser.type', ok: true, output: {} } }),
      act(4, { text: 'b' }),
      act(5, { text: '', key: 'Enter' }),
      act(6, { x: 1, y: 1 }, 'browser.click'),
      act(7, { x: 1, y: 1 }, 'browser.click'),
      event(8, 'browser.type', { id: 'agent', args: { text: 'mine' } }),
    ];
    const folded = viewOf(typing);
    expect(folded.entries.map(({ kind, event, gestures }) => [kind, event.seq, gestures])).toEqual([
      ['call', 1, undefined],
      [
        'gestures',
        2,
        { clicks: 2, scrolls: 0, typed: 'ab<Enter>', calls: ['t2', 't4', 't5', 't6', 't7'] },
      ],
      ['call', 8, undefined],
    ]);
    for (const cut of [2, 3, 4, 5, 6])
      expect(joinViews(viewOf(typing.slice(0, cut)), viewOf(typing.slice(cut)))).toEqual(folded);
  });

  it('keeps the latest plan and the offset of each terminal', () => {
    expect(view.plan?.args.markdown).toBe('- [x] one');
    expect(view.terminalEnds.get('main')).toBe(90);
  });

  it('knows how much a terminal had printed, also by what the user typed', () => {
    const args = { terminal: 'main', change: 'typed', columns: 80, rows: 24, holder: 'user' };
    const typed = [...log, event(13, 'terminal', { args: { ...args, to: 120 } })];
    expect(viewOf(typed).printed.get('main')).toBe(120);
    expect(viewOf(typed.slice(0, 12)).printed.get('main')).toBe(90);
    expect(viewOf(typed).terminalEnds.get('main')).toBe(90);
  });

  it('marks a command that failed', () => {
    expect(view.marks.find((mark) => mark.seq === 4)?.kind).toBe('failed');
    expect(hasFailed(viewOf(log.slice(8, 9)).results.get('b')!)).toBe(false);
  });
});

describe('joinViews', () => {
  const whole = viewOf(log);

  it.each([1, 3, 4, 7, 11])('returns the same view wherever the log is split (%i)', (cut) => {
    expect(joinViews(viewOf(log.slice(0, cut)), viewOf(log.slice(cut)))).toEqual(whole);
  });

  it('shows what a model said before the call that the server held, wherever pages are split', () => {
    const held = (seq: number, id: string) =>
      event(seq, 'tool.mine.shell', { source: 'server', id, args: { command: 'ls' } });
    const say = (seq: number, text: string) => event(seq, 'say', { args: { text, calls: [] } });
    const args = { operation: 'tool.mine.shell', ok: true, output: { text: '' } };
    const events = [
      held(1, 'a'),
      held(2, 'b'),
      event(3, 'approve', { source: 'user', id: 'a' }),
      say(4, 'I look.'),
      event(5, 'result', { id: 'a', args }),
      event(6, 'result', { id: 'b', args }),
      held(7, 'c'),
      say(8, 'I go on.'),
      event(9, 'reject', { source: 'user', id: 'c', args: { reason: 'No.' } }),
      say(10, 'It was not run.'),
    ];
    for (let cut = 0; cut <= events.length; cut += 1) {
      const view = joinViews(viewOf(events.slice(0, cut)), viewOf(events.slice(cut)));
      expect(view.entries.map((entry) => entry.event.seq)).toEqual([4, 1, 2, 8, 7, 10]);
    }
  });

  it('is associative, so an older page may be added last', () => {
    const [a, b, c] = [log.slice(0, 3), log.slice(3, 8), log.slice(8)].map(viewOf);
    expect(joinViews(a!, joinViews(b!, c!))).toEqual(joinViews(joinViews(a!, b!), c!));
  });
});
