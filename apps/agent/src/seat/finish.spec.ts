import { newEvent } from '@belay/protocol';
import { describeSeat } from '../testing/describe-seat.js';
import type { Seat, Situation } from '../testing/seat.js';
import type { ScriptedReply } from '../testing/stage.js';

const think = { calls: [{ operation: 'think', input: { thought: 'x' } }] };
const finish = (input: object = { summary: 'done' }) => ({
  calls: [{ operation: 'finish', input }],
});
const write = (path = 'a.ts') => ({
  calls: [{ operation: 'files.write', input: { path, content: 'x\n' } }],
});
const run = (command: string, more: object = {}) => ({
  calls: [{ operation: 'terminal.run', input: { command, ...more } }],
});
const plan = (markdown: string) => ({
  calls: [{ operation: 'plan.update', input: { markdown } }],
});
const ends = ({ stage }: Seat) =>
  stage.results().flatMap(({ args }) => (args['operation'] === 'finish' ? [args] : []));

/** The first finish is refused for this reason, the second counts. */
const doubted = (name: string, turns: ScriptedReply[], reason: RegExp): Situation => ({
  name,
  files: { 'README.md': 'Hello\n' },
  turns: () => [...turns, finish(), finish()],
  also: (seat) => {
    const { told } = seat;
    expect(told.at(-1)).toMatch(/^finish failed: [^]*Not finished yet, because:/);
    expect(told.at(-1)).toMatch(reason);
    expect(told.at(-1)).toMatch(/call finish again if all is right as it is/);
    expect(seat.stage.requests).toHaveLength(turns.length + 2);
  },
});
/** The first finish counts. */
const believed = (
  name: string,
  turns: ScriptedReply[],
  more: Partial<Situation> = {},
): Situation => ({
  name,
  files: { 'README.md': 'Hello\n' },
  turns: () => [...turns, finish()],
  also: ({ stage }) => expect(stage.requests).toHaveLength(turns.length + 1),
  ...more,
});

describeSeat('the end of its work', [
  doubted(
    'nothing has run since my last edit',
    [think, think, write()],
    /No command has ended since your last edit/,
  ),
  doubted(
    'the last command since my edit failed',
    [think, write(), run('exit 3')],
    /The last command since your last edit, `exit 3`, ended with exit code 3/,
  ),
  doubted(
    'my plan has open steps',
    [think, think, plan('- [x] one\n- [ ] two')],
    /The plan has 1 of 2 steps that are not done/,
  ),
  doubted(
    'what still runs is said beside a doubt',
    [run('sleep 300', { background: true }), think, write()],
    /Still running: `sleep 300` \(terminal main, in \S+\)/,
  ),
  {
    ...doubted(
      'the user wants a plan first, and has not approved mine',
      [think, think, plan('- [x] one\n- [ ] two')],
      /The plan has 1 of 2 steps that are not done\.\nAsk the user to approve the plan first, with ask;/,
    ),
    settings: { approvals: 'plan' },
  },
  believed('my edits were checked by a command', [think, write(), run('true')]),
  believed('I only wrote a text file', [think, think, write('notes.md')]),
  believed('the session was short', [write()]),
  believed('my plan is done', [think, think, plan('- [x] one')]),
  believed('a server runs, and nothing speaks against the end', [
    run('sleep 300', { background: true }),
    think,
    think,
  ]),
  {
    name: 'I fail the task: nobody doubts that',
    files: { 'README.md': 'Hello\n' },
    turns: () => [think, think, write(), finish({ summary: 'no', outcome: 'failure' })],
    also: ({ stage }) => expect(stage.requests).toHaveLength(4),
  },
  {
    name: 'the user rewound my files before I finish',
    files: { 'README.md': 'Hello\n' },
    turns: ({ stage }) => [
      think,
      write(),
      run('true'),
      async () => {
        const say = stage.log.find(({ action }) => action === 'say')!;
        const args = { seq: say.seq, what: 'files' as const };
        await stage.say(newEvent('user', 'rewind', { args, message: 'rewind' }));
        return think;
      },
      finish(),
      finish(),
    ],
    also: ({ told }) =>
      expect(told.at(-1)).toMatch(
        /The user has undone your changes \(a.ts\): none of them is left/,
      ),
  },
  {
    name: 'the user rewound my files, and undid that, before I finish',
    files: { 'README.md': 'Hello\n' },
    turns: ({ stage }) => [
      think,
      write(),
      run('true'),
      async () => {
        const say = stage.log.find(({ action }) => action === 'say')!;
        const last = stage.log.at(-1)!.seq;
        const rewound = { seq: say.seq, what: 'files' as const, last };
        await stage.say(newEvent('user', 'rewind', { args: rewound, message: 'rewind' }));
        const undone = { seq: last, what: 'files' as const };
        await stage.say(newEvent('user', 'rewind', { args: undone, message: 'rewind' }));
        return think;
      },
      finish(),
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
      return [think, think, write(), think, finish()].map((turn) => async () => {
        await used();
        return turn as object;
      });
    },
    also: (seat) => expect(ends(seat)).toHaveLength(0),
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
    turns: () => [{ ...finish({ summary: ' ' }), text: 'It works.' }],
    until: 'result',
    told: ['Do it'],
    also: (seat) =>
      expect(ends(seat)).toMatchObject([{ ok: true, output: { summary: 'It works.' } }]),
  },
]);
