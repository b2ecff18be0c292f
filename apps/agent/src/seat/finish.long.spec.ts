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
    'what still runs is said beside a doubt',
    [running('sleep 300', { background: true }), thinking, writing()],
    /Still running: `sleep 300` \(terminal main, in \S+\)/,
  ),
  {
    ...doubted(
      'the user wants a plan first, and has not approved mine',
      [thinking, thinking, planning('- [x] one\n- [ ] two')],
      /The plan has 1 of 2 steps that are not done\.\nAsk the user to approve the plan first, with ask;/,
    ),
    settings: { approvals: 'plan' },
  },
  believed('I only wrote a text file', [thinking, thinking, writing('notes.md')]),
  believed('my plan is done', [thinking, thinking, planning('- [x] one')]),
  believed('a server runs, and nothing speaks against the end', [
    running('sleep 300', { background: true }),
    thinking,
    thinking,
  ]),
  {
    name: 'I fail the task: nobody doubts that',
    files: { 'README.md': 'Hello\n' },
    turns: () => [thinking, thinking, writing(), finishing({ summary: 'no', outcome: 'failure' })],
    also: ({ stage }) => expect(stage.requests).toHaveLength(4),
  },
  {
    name: 'the user rewound my files, and undid that, before I finish',
    files: { 'README.md': 'Hello\n' },
    turns: ({ stage }) => [
      thinking,
      writing(),
      running('true'),
      async () => {
        const say = stage.log.find(({ action }) => action === 'say')!;
        const last = stage.log.at(-1)!.seq;
        const rewound = { seq: say.seq, what: 'files' as const, last };
        await stage.say(newEvent('user', 'rewind', { args: rewound, message: 'rewind' }));
        const undone = { seq: last, what: 'files' as const };
        await stage.say(newEvent('user', 'rewind', { args: undone, message: 'rewind' }));
        return thinking;
      },
      finishing(),
    ],
    also: ({ stage }) => expect(stage.requests).toHaveLength(5),
  },
  {
    name: 'only one step of my budget is left: I am not held up',
    files: { 'README.md': 'Hello\n' },
    settings: { budgets: { steps: 5 } },
    turns: ({ stage }) => {
      const used = async () =>
        stage.say(
          newEvent('server', 'usage', {
            args: {
              inputTokens: 1,
              cachedTokens: 0,
              outputTokens: 1,
              dollars: null,
              model: 'scripted:x',
              contextTokens: 1,
              contextWindow: null,
            },
            message: 'used',
          }),
        );
      return [thinking, thinking, writing(), thinking, finishing()].map((turn) => async () => {
        await used();
        return turn as object;
      });
    },
    also: (seat) => expect(ends(seat)).toHaveLength(0),
  },
]);
