import { newEvent } from '@belay/protocol';
import { describeSeat } from '../testing/describe-seat.js';
import type { Seat } from '../testing/seat.js';

const think = { calls: [{ operation: 'think', input: { thought: 'x' } }] };
const thought = 'think: {}';
const task = 'Do it';
const read = { operation: 'files.read', input: { path: 'a' } };
const write = { operation: 'files.write', input: { path: 'a', content: '' } };
const quick = { 'files.read': async () => ({}) as never, 'files.write': async () => ({}) as never };
const notRun =
  /failed: .*Not run: the user wrote. Read the message, then call what is still right./;
/** A reply that is still being written when `act` is called, and never ends by itself. */
const writing = (act: () => Promise<unknown>) => async (_: unknown, signal: AbortSignal) => {
  await act();
  return new Promise<never>((_done, failed) => {
    signal.addEventListener('abort', () => failed(signal.reason));
    if (signal.aborted) failed(signal.reason);
  });
};
const change = (args: object) => (seat: Seat) =>
  seat.stage.say(newEvent('user', 'change', { args, message: 'change' }));

const commandBegun = Promise.withResolvers<void>();

describeSeat('messages and acts of the user', [
  {
    name: 'the user writes while I reply, to be read with the next results',
    handlers: quick,
    turns: ({ stage }) => [
      async () => {
        await stage.message('Tests, too', { delivery: 'next' });
        return { calls: [write, read] };
      },
    ],
    told: [task, 'files.write: {}\n---\nfiles.read: {}\n---\nTests, too'],
  },
  {
    name: 'the user writes “now” while I reply: my reply is broken off',
    turns: ({ stage }) => [writing(() => stage.message('Stop that', { delivery: 'steer' })), think],
    told: [task, 'Stop that', thought],
  },
  {
    name: 'the user writes “now” while a call runs: it ends, and the later ones are not run',
    handlers: {
      ...quick,
      'terminal.run': (_, { userWrote }) => {
        commandBegun.resolve();
        return new Promise((done) =>
          userWrote?.addEventListener('abort', () => done({ status: 'running' } as never)),
        );
      },
    },
    turns: () => [{ calls: [{ operation: 'terminal.run', input: { command: 'make' } }, write] }],
    meanwhile: async ({ stage }) => {
      await commandBegun.promise;
      await stage.message('No need', { delivery: 'steer' });
    },
    told: [task, new RegExp(`"status":"running"[^]*files.write ${notRun.source}[^]*No need$`)],
  },
  {
    name: 'the user writes for after this turn: I read it when I finish',
    turns: ({ stage }) => [
      async () => {
        await stage.message('Then tidy up');
        return think;
      },
      { calls: [{ operation: 'finish', input: { summary: 'done' } }] },
    ],
    told: [task, thought, /the user wrote meanwhile[^]*Then tidy up$/],
  },
  {
    name: 'the user writes two messages at once: I read both, in order',
    turns: ({ stage }) => [
      async () => {
        await stage.message('One', { delivery: 'next' });
        await stage.message('Two', { delivery: 'next' });
        return think;
      },
    ],
    told: [task, `${thought}\n---\nOne\n---\nTwo`],
  },
  {
    name: 'the user answers my question',
    turns: () => [{ calls: [{ operation: 'ask', input: { question: 'Which?' } }] }],
    meanwhile: async ({ stage }) => {
      await stage.event('ask');
      await stage.message('The blue one');
    },
    told: [task, 'ask: {"answer":"The blue one"}'],
  },
  {
    name: 'the user rejects a call with a reason, and the next one runs',
    settings: { approvals: 'ask' },
    handlers: quick,
    approve: async () => ({ verdict: 'rejected', reason: 'use yarn' }),
    turns: () => [{ calls: [{ operation: 'terminal.run', input: { command: 'npm i' } }, read] }],
    told: [
      task,
      /^terminal.run failed: .*The user did not allow this: use yarn[^]*files.read: \{\}$/,
    ],
  },
  {
    name: 'the user changes approvals and budgets',
    turns: (seat) => [
      async () => {
        await change({ approvals: 'safe' })(seat);
        return think;
      },
    ],
    told: [task, /^think: \{\}\n---\nThe user changed settings.\nApprovals: safe\./],
  },
  {
    name: 'the user only renames the session: I am told nothing',
    turns: (seat) => [
      async () => {
        await change({ title: 'Other' })(seat);
        return think;
      },
    ],
    told: [task, thought],
  },
  {
    name: 'the user edits a file by hand',
    handlers: quick,
    turns: ({ stage }) => [
      async () => {
        await stage.call('u1', 'files.write', { path: 'mine', content: '' });
        return think;
      },
    ],
    told: [task, `${thought}\n---\nThe user did this by hand: files.write mine`],
  },
  {
    name: 'the user looks at a file: I am told nothing',
    handlers: quick,
    turns: ({ stage }) => [
      async () => {
        await stage.call('u1', 'files.read', { path: 'mine' });
        return think;
      },
    ],
    told: [task, thought],
  },
  {
    name: 'the user stops me and writes: my open calls were not run',
    handlers: {
      'terminal.run': (_, { signal }) =>
        new Promise((_done, failed) =>
          signal.addEventListener('abort', () => failed(signal.reason)),
        ),
    },
    turns: () => [{ calls: [{ operation: 'terminal.run', input: { command: 'make' } }, write] }],
    meanwhile: async ({ stage }) => {
      await stage.event('terminal.run');
      await stage.say(newEvent('user', 'stop', { args: {}, message: 'stop' }));
      await stage.event('result');
      await stage.message('Only read');
    },
    told: [task, /The user stopped the agent[^]*This call was not run[^]*Only read$/],
  },
  {
    name: 'the user withdraws a message that I have not read',
    turns: ({ stage }) => [
      async () => {
        await stage.message('Forget me');
        const { seq: message } = stage.log.at(-1)!;
        await stage.say(newEvent('user', 'withdraw', { args: { message }, message: 'withdraw' }));
        return think;
      },
    ],
    told: [task, thought],
  },
  {
    name: 'the user corrects a message that I have not read',
    turns: ({ stage }) => [
      async () => {
        await stage.message('Pant it');
        const { seq: message } = stage.log.at(-1)!;
        const args = { message, text: 'Paint it' };
        await stage.say(newEvent('user', 'edit', { args, message: 'edit' }));
        return think;
      },
      { text: 'Hm.' },
    ],
    told: [task, thought, /Paint it$/],
  },
  {
    name: 'the user pauses and resumes: I notice nothing',
    turns: ({ stage }) => [
      async () => {
        await stage.say(newEvent('user', 'pause', { args: {}, message: 'pause' }));
        return think;
      },
    ],
    meanwhile: async ({ stage }) => {
      await stage.event('say');
      await stage.say(newEvent('user', 'resume', { args: {}, message: 'resume' }));
    },
    told: [task, thought],
  },
]);
