import { newEvent, sessionSettings, type Event, type NewEvent } from '@belay/protocol';
import { describeSeat } from '../testing/describe-seat.js';
import type { Situation } from '../testing/seat.js';

const settings = sessionSettings.parse({ task: 'Do it', model: 'scripted:x' });
const numbered = (events: NewEvent[]): Event[] =>
  events.map((event, index) => ({ ...event, seq: index + 1, time: '2026-11-20T10:00:00.000Z' }));
const call = (id: string, operation: string, input: object) => ({ id, operation, input });
const say = (...calls: ReturnType<typeof call>[]) =>
  newEvent('agent', 'say', { args: { text: '', calls }, message: 'say' });
const begun = ({ id, operation, input }: ReturnType<typeof call>): NewEvent => ({
  source: 'agent',
  action: operation,
  args: { ...input },
  message: operation,
  id,
});
const result = (id: string, operation: string, output: object) =>
  newEvent('agent', 'result', {
    args: { operation, ok: true, output, seconds: 0 },
    message: '',
    id,
  });
const state = (of: 'failed' | 'finished' | 'stopped', reason: string | null) =>
  newEvent('server', 'state', { args: { state: of, reason }, message: of });
const start = (again = false) =>
  newEvent('user', 'start', { args: { ...settings, again }, message: 'Go' });

const shown = { text: '', omittedBytes: 0, from: 0, to: 0, seconds: 0, exitCode: null };
const server = call('c1', 'terminal.run', {
  command: 'node ../s.js',
  terminal: 'srv',
  background: true,
});
const shell = call('c2', 'terminal.run', { command: 'cd odd; export TOKEN=1' });
/** A server runs, and the main shell has a directory and variables of its own. */
const worked = [
  start(),
  say(server, shell),
  begun(server),
  result('c1', 'terminal.run', {
    ...shown,
    terminal: 'srv',
    status: 'background',
    directory: '/workspace/odd',
  }),
  begun(shell),
  result('c2', 'terminal.run', {
    ...shown,
    terminal: 'main',
    status: 'exited',
    exitCode: 0,
    directory: '/workspace/odd',
  }),
];
const killed = state(
  'failed',
  'The sandbox was killed (SIGKILL). Its files are kept. Restart the session to continue.',
);

const restarted = (name: string, events: NewEvent[], told: string | RegExp): Situation => ({
  name,
  events: numbered(events),
  turns: () => [],
  told: [told],
});

describeSeat('a new agent after a restart', [
  restarted(
    'my sandbox was killed: I am told why, and all that is gone',
    [...worked, killed, start(true)],
    new RegExp(
      [
        String.raw`^Do it\n---\n(terminal.run: [^]*\n---\n){2}`,
        String.raw`\[Belay, not the user\] The session was started again on 2026-11-20 in a new sandbox\. `,
        String.raw`Why: The sandbox was killed \(SIGKILL\)\. Its files are kept\.\n`,
        String.raw`The files of the workspace are kept\. No longer there:\n`,
        String.raw`- what was running: .node \.\./s\.js. \(terminal srv, in /workspace/odd\)\n`,
        String.raw`- the terminals: srv \(in /workspace/odd\), main \(in /workspace/odd\), with their directories, variables and functions; new ones begin in the workspace\n`,
        String.raw`- everything outside of the workspace, such as files in /tmp and installed packages\n`,
        String.raw`Start again what you need, and go on with the task\.$`,
      ].join(''),
    ),
  ),
  restarted(
    'my sandbox and its files were lost: I am told what the copy of them lacks',
    [
      ...worked,
      state('failed', 'The sandbox’s container was removed. Restart the session to continue.'),
      start(true),
      newEvent('server', 'restored', {
        args: { commit: 'abcdef0', step: 7, without: ['the changes of 1 later step', 'huge.bin'] },
        message: 'restored',
      }),
    ],
    /container was removed\.\nThe files of the workspace were lost too, and were put back[^]*No longer there:\n- the changes of 1 later step\n- huge\.bin\n- what was running/,
  ),
  restarted(
    'the user wrote after the sandbox was killed: I am told both',
    [
      ...worked,
      killed,
      start(true),
      newEvent('user', 'message', { args: { text: 'Use port 8080' }, message: '' }),
    ],
    /Why: The sandbox was killed[^]*Start again what you need\.\n---\nUse port 8080$/,
  ),
  restarted(
    'I had finished, and the user goes on in a new sandbox',
    [
      ...worked,
      state('finished', 'done'),
      start(true),
      newEvent('user', 'message', { args: { text: 'More' }, message: '' }),
    ],
    /Why: The session had ended, and so did its sandbox\.[^]*More$/,
  ),
  restarted(
    'the user stopped me, and starts me again',
    [
      ...worked,
      newEvent('user', 'stop', { args: {}, message: '' }),
      state('stopped', 'Stopped by the user.'),
      start(true),
    ],
    /Why: Stopped by the user\./,
  ),
  restarted(
    'my agent was replaced without an end that anyone saw: no cause is made up',
    worked,
    /The session goes on in a new sandbox\. Why the earlier one ended is not known\./,
  ),
  restarted(
    'my session is a fork of another one',
    [...worked, newEvent('server', 'fork', { args: { session: 's0', seq: 6 }, message: 'fork' })],
    /in a new sandbox\. Why: It is a fork, which continues another session/,
  ),
  restarted(
    'nothing ran: I am not told of servers',
    [
      start(),
      say(call('c9', 'think', { thought: 'x' })),
      result('c9', 'think', {}),
      killed,
      start(true),
    ],
    /No longer there:\n- the terminals, with their directories/,
  ),
  restarted(
    'a call ran when my sandbox was killed: it failed, and I am told why',
    [start(), say(shell), begun(shell), killed, start(true)],
    /terminal.run failed: .*The agent was restarted while this ran\.[^]*Why: The sandbox was killed/,
  ),
  {
    name: 'the session is new: I am told of no restart',
    turns: () => [],
    told: ['Do it'],
  },
  {
    name: 'my server ended before the sandbox did: it is not named again',
    events: numbered([
      ...worked,
      newEvent('agent', 'exit', {
        args: {
          terminal: 'srv',
          command: 'node ../s.js',
          status: 'exited',
          exitCode: 1,
          seconds: 1,
          text: '',
        },
        message: 'ended',
      }),
      killed,
      start(true),
    ]),
    turns: () => [],
    also: ({ told }) => expect(told[0]).not.toMatch(/what was running/),
  },
]);
