import { eventArgs } from '@belay/protocol';
import type { Item } from './conversation.js';
import { faultOfReply, reminder, silentEnd } from './silent-replies.js';

const reply = (given: object) => eventArgs.say.parse({ text: '', calls: [], ...given });
const turn = (given: object): Item => ({
  kind: 'turn',
  turn: { seq: 1, say: reply(given), results: new Map(), shortened: null, waits: false },
});
const nudge: Item = { kind: 'nudge', say: reply({}) };
const ends = (...replies: object[]) =>
  silentEnd({ items: replies.flatMap((one) => [turn(one), nudge]).slice(0, -1) });
const text = { text: 'It is blue.' };
const bad = { reasoning: 'Hm.' };

it.each([
  [{}, 'empty', /no text and no call/],
  [{ text: ' \n' }, 'empty', /no text and no call/],
  [{ reasoning: 'Hm.' }, 'reasoning', /only reasoning/],
  [{ text: 'I wri', cut: true }, 'cut', /reached its length limit and was cut/],
  [{ reasoning: 'Hm', cut: true }, 'cut-thinking', /Think less at a time/],
  [{ unreadable: true }, 'unreadable', /could not be read/],
  ['<tool_call>{"name": "files_read"}</tool_call>', 'call-as-text', /written as text/],
  ['<function_calls>\n<invoke name="Read">', 'call-as-text', /written as text/],
  ['```json\n{"name": "files_read", "arguments": {}}\n```', 'call-as-text', /written as text/],
  ['{"name": "Bash", "arguments": {"command": "ls"}}', 'call-as-text', /written as text/],
  ['It is blue.', null, /You called no operation/],
  ['```json\n{"name": "belay", "version": 1}\n```', null, /You called no operation/],
  ['```json\n{"name": "get_weather", "arguments": {}}\n```', null, /You called no operation/],
] as const)('tells a model what was wrong with %j: %s', (given, fault, told) => {
  const say = reply(typeof given === 'string' ? { text: given } : given);
  expect(faultOfReply(say)).toBe(fault);
  expect(reminder(say)).toMatch(told);
});

describe('the end after replies without calls', () => {
  it('is the second text in a row', () => {
    expect(ends(text)).toBeNull();
    expect(ends(text, { text: 'Done.' })).toEqual({ answer: 'Done.' });
    expect(ends(text, bad, text)).toEqual({ answer: 'It is blue.' });
  });

  it('is trouble after the fourth useless reply, and never before', () => {
    expect(ends(bad, {}, { text: 'x', cut: true })).toBeNull();
    expect(ends(bad, {}, { text: 'x', cut: true }, bad)).toEqual({
      trouble: expect.stringContaining(
        '4 useless replies in a row: the last one had only reasoning',
      ),
    });
  });

  it('is the last text if nothing useful follows it', () => {
    expect(ends(text, {}, {}, {})).toBeNull();
    expect(ends(text, {}, {}, {}, {})).toEqual({ answer: 'It is blue.' });
  });

  it('begins again with each message of the user', () => {
    const message: Item = { kind: 'text', text: 'Go on', images: [], pinned: false };
    expect(silentEnd({ items: [turn(text), message, turn(text)] })).toBeNull();
  });
});
