import { newEvent, sessionSettings, type Event, type NewEvent } from '@belay/protocol';
import { foldConversation } from './conversation-log.js';

const settings = sessionSettings.parse({ task: 'Fix it', model: 'scripted:x' });
const start = newEvent('user', 'start', { args: settings, message: 'Fix it' });
const message = (text: string, delivery: 'queue' | 'steer' = 'queue') =>
  newEvent('user', 'message', { args: { text, delivery }, message: text });
const began = (through: number) =>
  newEvent('agent', 'turn', {
    args: { change: 'began', conversation: 'c1', through },
    message: 'Began.',
  });
const ended = newEvent('agent', 'turn', {
  args: { change: 'ended', end: 'done' },
  message: 'Ended.',
});
const say = (text: string) =>
  newEvent('agent', 'say', { args: { text, calls: [] }, message: text });
const call = (action: string, args: object, id: string): NewEvent => ({
  source: 'agent',
  action,
  args: { ...args },
  message: `${action} ${id}`,
  id,
});
const heldCall = (action: string, args: object, id: string): NewEvent => ({
  ...call(action, args, id),
  source: 'server',
});
const result = (operation: string, output: object, id: string) =>
  newEvent('agent', 'result', {
    args: { operation, ok: true, output, seconds: 0 },
    message: 'Done.',
    id,
  });

const fold = (...events: NewEvent[]) =>
  foldConversation(
    events.map((event, at): Event => ({ ...event, seq: at + 1, time: '2026-01-01T00:00:00Z' })),
  );
const texts = ({ items }: ReturnType<typeof fold>, from = 0) =>
  items.slice(from).map((item) => (item.kind === 'text' ? item.text : item.kind));

it('keeps messages back until the program’s next turn begins', () => {
  const turn = [start, began(1), say('Looking.'), message('And this'), say('Still.')];
  const hasTurn = fold(...turn);
  expect(hasTurn.waiting).toMatchObject([{ text: 'And this' }]);
  expect(hasTurn.delivered).toEqual([]);
  const idle = fold(...turn, ended);
  expect(idle.delivered).toMatchObject([{ text: 'And this' }]);
  expect(texts(idle, idle.program?.included)).toEqual(['And this']);
  const next = fold(...turn, ended, began(4));
  expect(texts(next, next.program?.included)).toEqual([]);
  expect(next.program).toMatchObject({ id: 'c1', hasTurn: true });
});

it('takes the answer to a question, and no other message', () => {
  const asked = [start, began(1), call('ask', { question: 'Which?' }, 'q')];
  expect(fold(...asked).question).toMatchObject({ id: 'q' });
  const answered = fold(
    ...asked,
    message('Blue'),
    message('Then this'),
    result('ask', { answer: 'Blue' }, 'q'),
    ended,
  );
  expect(answered.question).toBeNull();
  expect(answered.delivered).toMatchObject([{ text: 'Then this' }]);
});

it('shows the program’s calls to whoever continues its conversation', () => {
  const tool = call('tool.codex.exec', { cmd: 'ls' }, 't');
  const done = fold(start, began(1), tool, result(tool.action, { text: 'a.txt' }, 't'), ended);
  expect(texts(done)).toEqual(['Fix it', '[Belay, not the user] Called: tool.codex.exec t\na.txt']);
  expect(texts(done, done.program?.included)).toEqual([]);
});

it('shows the calls that the server has read from the program’s model, as far as a rewind kept them', () => {
  const ran = (id: string, text: string) => [
    say(`Now ${id}.`),
    heldCall('tool.codex.exec', { cmd: id }, id),
    result('tool.codex.exec', { text }, id),
  ];
  const log = [start, began(1), ...ran('one', 'a.txt'), ...ran('two', 'b.txt'), ended];
  const called = (id: string, text: string) => [
    'turn',
    `[Belay, not the user] Called: tool.codex.exec ${id}\n${text}`,
  ];
  expect(texts(fold(...log))).toEqual([
    'Fix it',
    ...called('one', 'a.txt'),
    ...called('two', 'b.txt'),
  ]);
  const back = newEvent('user', 'rewind', { args: { seq: 5, what: 'both' }, message: 'Back' });
  expect(texts(fold(...log, back))).toEqual(['Fix it', ...called('one', 'a.txt')]);
});

it('knows the calls of the program that have no result', () => {
  const open = heldCall('tool.codex.exec', { cmd: 'ls' }, 't');
  expect(fold(start, began(1), open).program?.open).toEqual([
    { id: 't', operation: 'tool.codex.exec' },
  ]);
});

it('tells the program what the user did in its turn', () => {
  const byUser = call('terminal.run', { command: 'make' }, 'user-1');
  const run = { terminal: 'main', status: 'exited', exitCode: 0, directory: '/', seconds: 0 };
  const told = fold(
    start,
    began(1),
    byUser,
    result('terminal.run', { ...run, text: '', from: 0, to: 0, omittedBytes: 0 }, 'user-1'),
    ended,
  );
  expect(texts(told, told.program?.included)).toEqual([expect.stringContaining('terminal.run')]);
});

it.each([
  ['a rewind', newEvent('user', 'rewind', { args: { seq: 1, what: 'both' }, message: 'Back' })],
  ['a fork', newEvent('server', 'fork', { args: { session: 's', seq: 3 }, message: 'Fork' })],
])('begins a new conversation after %s', (_, event) => {
  expect(fold(start, began(1), ended).program).not.toBeNull();
  expect(fold(start, began(1), ended, event).program).toBeNull();
});

it('ends with a failure that the program’s driver reports', () => {
  const finish = call('finish', { outcome: 'failure', summary: 'Refused.' }, 'f');
  const failed = result('finish', { outcome: 'failure', summary: 'Refused.' }, 'f');
  expect(fold(start, began(1), ended, finish, failed).ended).toBe(true);
});
