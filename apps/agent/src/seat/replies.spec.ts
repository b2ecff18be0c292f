import { AppError } from '@belay/protocol';
import type { ScriptedReply } from '../testing/stage.js';
import { describeSeat } from '../testing/describe-seat.js';
import type { Situation } from '../testing/seat.js';

const think = { calls: [{ operation: 'think', input: { thought: 'x' } }] };
const done = 'think: {}';
const task = 'Do it';
const reminder =
  'You called no operation. Go on with one; call finish when the task is done and checked, or ask when only the user can decide.';

/** A useless reply is named once, and the model goes on. */
const named = (name: string, reply: ScriptedReply, told: string): Situation => ({
  name,
  turns: () => [reply, think],
  told: [task, told, done],
});
/** A call that cannot run gets one sentence, and nothing runs. */
const refused = (name: string, operation: string, input: unknown, told: RegExp): Situation => ({
  name,
  turns: () => [{ calls: [{ operation, input }] }],
  handlers: { 'files.read': () => Promise.reject(new Error('must not run')) },
  told: [task, told],
});
const bad: ScriptedReply[] = [
  {},
  { reasoning: 'Hm.' },
  { text: 'I wri', finish: 'length' },
  { text: '<tool_call>{"name":"think"}</tool_call>' },
];
const trouble = (seat: { stage: { log: { action: string; message: string }[] } }) =>
  seat.stage.log.find(({ action }) => action === 'error')?.message;

describeSeat('its own replies', [
  named('I wrote a text and no call', { text: 'I look.' }, reminder),
  named(
    'I replied with nothing',
    {},
    'Your reply had no text and no call. Call the next operation, or finish when the task is done and checked.',
  ),
  named(
    'I replied with blanks',
    { text: ' \n' },
    'Your reply had no text and no call. Call the next operation, or finish when the task is done and checked.',
  ),
  named(
    'I only reasoned',
    { reasoning: 'Hm.' },
    'Your reply had only reasoning, no text and no call. Call the next operation, or finish when the task is done and checked.',
  ),
  named(
    'my text was cut',
    { text: 'I wri', finish: 'length' },
    'Your reply reached its length limit and was cut. Continue from there in shorter replies: call the next operation, and write long files in several pieces.',
  ),
  named(
    'my thoughts were cut',
    { reasoning: 'Hm', finish: 'length' },
    'Your reply reached its length limit before any text or call. Think less at a time, and call the next operation.',
  ),
  named(
    'my call could not be read by my provider',
    { finish: 'malformed' },
    'Your call could not be read, so nothing was run. Call the operation again.',
  ),
  ...[
    '<tool_call>{"name": "files_read", "arguments": {"path": "a"}}</tool_call>',
    'Now:\n```json\n{"name": "files_read", "arguments": {"path": "a"}}\n```',
    '<function_calls><invoke name="Read"></invoke></function_calls>',
    '[TOOL_CALLS][{"name": "bash", "arguments": {}}]',
    '{"name": "bash", "parameters": {"command": "ls"}}',
  ].map((text) =>
    named(
      `I wrote a call as text: ${text.slice(0, 20).replaceAll('\n', ' ')}`,
      { text },
      'Your reply has a call written as text, which was not run. Call operations only as tools, not in the text of a reply.',
    ),
  ),
  {
    name: 'I answered in a text, and again after the reminder',
    turns: () => [{ text: 'It is blue.' }, { text: 'As I said: blue.' }],
    until: 'end',
    told: [task, reminder],
    also: ({ stage }) => {
      expect(stage.log.at(-1)).toMatchObject({ action: 'end', args: { text: 'As I said: blue.' } });
      expect(stage.log.some(({ action }) => action === 'ask')).toBe(false);
    },
  },
  {
    name: 'I answered in a text, and the user writes on',
    turns: () => [{ text: 'It is blue.' }, { text: 'Blue.' }],
    meanwhile: async ({ stage }) => {
      await stage.event('end');
      await stage.message('And the other?');
    },
    told: [task, reminder, 'And the other?'],
  },
  {
    name: 'I gave four useless replies in a row: the user is told, and tries again',
    turns: () => [...bad],
    meanwhile: async (seat) => {
      await seat.stage.event('error');
      expect(trouble(seat)).toMatch(/^The model gave 4 useless replies in a row: .* call written/);
      await seat.stage.message('Again');
    },
    told: [task, /no text/, /only reasoning/, /length limit/, /^Again$/],
  },
  {
    name: 'I gave three useless replies, and then a call',
    turns: () => [...bad.slice(0, 3), think],
    told: [task, /no text/, /only reasoning/, /length limit/, done],
  },
  {
    name: 'my provider refused my key, and then another model is chosen',
    turns: () => [new AppError('model_failed', 'openai refused the key.')],
    meanwhile: async ({ stage }) => {
      await stage.event('error');
      await stage.say({
        source: 'user',
        action: 'change',
        args: { model: 'scripted:y' },
        message: 'other',
      });
    },
    told: [task, ''],
  },
  refused(
    'I called a tool that does not exist',
    'files.destroy',
    {},
    /^files.destroy failed: .*There is no operation files.destroy/,
  ),
  refused('I left a field out', 'files.read', {}, /The input of files.read is not valid: path: /),
  refused('I wrote broken arguments', 'files.read', 'x', /The input of files.read is not valid/),
  {
    name: 'my call was cut at the length limit',
    turns: () => [
      {
        finish: 'length',
        calls: [{ operation: 'files.write', invalid: 'The reply reached its length limit.' }],
      },
    ],
    told: [
      task,
      /^files.write failed: .*files.write was not run. The reply reached its length limit/,
    ],
  },
  {
    name: 'I used the field names of another harness',
    handlers: { 'files.read': async ({ path }) => ({ content: path }) as never },
    turns: () => [{ calls: [{ operation: 'files_read', input: { file_path: 'a.txt', why: 1 } }] }],
    told: [task, /"note":"files.read has no input `why`: ignored."/],
  },
  {
    name: 'I numbered my calls from the start in each reply',
    turns: () => [1, 2].map(() => ({ calls: [{ ...think.calls[0]!, id: 'call_0' }] })),
    told: [task, done, done],
    also: ({ stage }) => {
      const ids = stage.results().map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    },
  },
]);
