import { newEvent } from '@belay/protocol';
import { describeSeat } from '../testing/describe-seat.js';

const run = (command: string, more: object = {}) => ({
  calls: [{ operation: 'terminal.run', input: { command, ...more } }],
});
const polls = Array.from({ length: 10 }, () => run('cat log.txt'));
const circles = /You seem to be going round in circles: terminal.run was called 4 times in a row/;
const output = { terminal: 'main', directory: '/w', text: 'same', omittedBytes: 0, from: 0, to: 0 };
const ended = { ...output, status: 'exited', exitCode: 0, seconds: 1 };
const handlers = {
  'terminal.run': async ({ background }: { background: boolean }) =>
    (background ? { ...ended, status: 'background', exitCode: null } : ended) as never,
};

describeSeat('waiting and going round in circles', [
  {
    name: 'I look at a file again and again while my command runs: that is waiting',
    handlers,
    turns: () => [run('npm run build > log.txt', { background: true }), ...polls],
    also: ({ told }) => {
      expect(told).toHaveLength(12);
      expect(told.join('\n')).not.toMatch(/round in circles/);
    },
  },
  {
    name: 'I do the same while nothing runs: I am told, and how to wait',
    handlers,
    until: 'ask',
    turns: () => [...polls],
    also: ({ told }) => {
      expect(told[4]).toMatch(circles);
      expect(told[4]).toMatch(/call terminal.read with `wait` or `until`/);
    },
  },
  {
    name: 'my command has ended, and I still look',
    handlers,
    until: 'ask',
    turns: ({ stage }) => [
      run('npm run build', { background: true }),
      () => {
        stage.append({
          source: 'agent',
          action: 'exit',
          args: {
            terminal: 'main',
            command: 'npm run build',
            status: 'exited',
            exitCode: 0,
            seconds: 1,
            text: '',
          },
          message: 'ended',
        });
        return { calls: [{ operation: 'think', input: { thought: 'x' } }] };
      },
      ...polls,
    ],
    also: ({ told }) => expect(told.join('\n')).toMatch(circles),
  },
  {
    name: 'the user stopped me, which killed my command: I do not wait for it',
    handlers,
    until: 'ask',
    turns: ({ stage }) => [
      run('npm run build', { background: true }),
      async () => {
        await stage.say(newEvent('user', 'stop', { args: {}, message: 'stop' }));
        const stopped = { state: 'stopped', reason: 'Stopped by the user.' } as const;
        await stage.say(newEvent('server', 'state', { args: stopped, message: 'stopped' }));
        await stage.message('Go on');
        return {};
      },
      ...polls,
    ],
    also: ({ told }) => expect(told.join('\n')).toMatch(circles),
  },
  {
    name: 'all my calls fail while my command runs: that does not count as waiting',
    handlers: {
      ...handlers,
      'files.read': () => Promise.reject(new Error('no such file')),
    },
    until: 'ask',
    turns: () => [
      run('npm start', { background: true }),
      ...Array.from({ length: 12 }, (_, index) => ({
        calls: [{ operation: 'files.read', input: { path: `${index}` } }],
      })),
    ],
    also: ({ told }) => expect(told.join('\n')).toMatch(/all calls of the last 6 replies failed/),
  },
]);
