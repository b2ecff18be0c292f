import { newEvent } from '@belay/protocol';
import {
  believed,
  describeFinish,
  doubted,
  ends,
  finishing,
  planning,
  running,
  thinking,
  writing,
} from './testing/describe-finish.js';

describeFinish([
  doubted(
    'nothing has run since my last edit',
    [thinking, thinking, writing()],
    /No command has ended since your last edit/,
  ),
  doubted(
    'the last command since my edit failed',
    [thinking, writing(), running('exit 3')],
    /The last command since your last edit, `exit 3`, ended with exit code 3/,
  ),
  doubted(
    'my plan has open steps',
    [thinking, thinking, planning('- [x] one\n- [ ] two')],
    /The plan has 1 of 2 steps that are not done/,
  ),
  believed('my edits were checked by a command', [thinking, writing(), running('true')]),
  believed('the session was short', [writing()]),
  {
    name: 'the user rewound my files before I finish',
    files: { 'README.md': 'Hello\n' },
    turns: ({ stage }) => [
      thinking,
      writing(),
      running('true'),
      async () => {
        const say = stage.log.find(({ action }) => action === 'say')!;
        const args = { seq: say.seq, what: 'files' as const };
        await stage.say(newEvent('user', 'rewind', { args, message: 'rewind' }));
        return thinking;
      },
      finishing(),
      finishing(),
    ],
    also: ({ told }) =>
      expect(told.at(-1)).toMatch(
        /The user has undone your changes \(a.ts\): none of them is left/,
      ),
  },
  {
    name: 'I finish together with other calls',
    handlers: { 'files.read': async () => ({}) as never },
    turns: () => [
      {
        calls: [
          { operation: 'files.read', input: { path: 'a' } },
          { operation: 'finish', input: { summary: 'x' } },
        ],
      },
    ],
    told: ['Do it', /finish counts only alone in its reply/],
  },
  {
    name: 'I finish with a blank summary, so that the text of my reply is taken',
    turns: () => [{ ...finishing({ summary: ' ' }), text: 'It works.' }],
    until: 'result',
    told: ['Do it'],
    also: (seat) =>
      expect(ends(seat)).toMatchObject([{ ok: true, output: { summary: 'It works.' } }]),
  },
]);
