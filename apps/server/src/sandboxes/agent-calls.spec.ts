import { agentCalls, serverCalls, type Assignment, type Event } from '@belay/protocol';
import { dialRope, type Rope } from '@belay/rope';
import { EgressService } from '../egress/egress.service.js';
import { TerminalLog } from '../logs/terminal-log.js';
import { TestLogs, until } from '../testing/logs.js';
import { AgentCalls } from './agent-calls.js';
import { RopeListener } from './rope-listener.js';
import { Sandbox } from './sandbox.js';
import { Config } from '../config.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Agent = Rope<typeof agentCalls, typeof serverCalls>;
const logs = new TestLogs();
let folder: string;
let listener: RopeListener;
let terminals: TerminalLog;
let calls: AgentCalls;
const agents: Agent[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belay-'));
  await logs.open();
  listener = new RopeListener(new Config({ BELAY_DATA: folder, XDG_RUNTIME_DIR: folder }));
  terminals = new TerminalLog(logs.config);
  const unused = null as never;
  calls = new AgentCalls(
    logs.log,
    terminals,
    unused,
    unused,
    unused,
    unused,
    unused,
    unused,
    unused as EgressService,
    unused,
  );
});
afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.close()));
  await listener.hangUpAll();
  await terminals.onApplicationShutdown();
  await rm(folder, { recursive: true });
});
afterAll(() => logs.close());

const sandboxOf = (session: string | null): Sandbox => {
  const sandbox = new Sandbox('one', { workspace: 'w', state: 's' });
  if (session !== null) sandbox.assign(session, 0);
  return sandbox;
};
const listen = (sandbox: Sandbox): Promise<void> =>
  listener.open('one', (rope) => calls.serve(rope, sandbox));

/** An agent that dials the sandbox's socket, as in a container. */
function dial(heard: Event[] = []): Agent {
  const address = `unix:${join(listener.folder('one'), 'rope.sock')}`;
  const agent: Agent = dialRope({ address, serves: agentCalls, calls: serverCalls });
  const nothing = async () => ({});
  agent.serve({
    'session.begin': nothing,
    'session.events': async ({ events }) => {
      heard.push(...events);
      return {};
    },
    'operation.call': async () => ({ output: null }),
    'terminal.keys': nothing,
    'terminal.resize': nothing,
    'terminal.hold': nothing,
    'terminal.open': nothing,
    'browser.watch': nothing,
    shutdown: nothing,
  });
  agents.push(agent);
  return agent;
}

const hello = (agent: Agent, session: string | null = null, lastSeq = 0) =>
  agent.call('hello', { version: '1', session, epoch: 0, lastSeq });

it('leaves a warm agent waiting, and lets nobody in who did not say hello', async () => {
  const sandbox = sandboxOf(null);
  await listen(sandbox);
  const agent = dial();
  expect(await hello(agent)).toEqual({ assignment: null, events: [], storedN: 0 });
  await sandbox.greeted();
  await expect(agent.call('terminal.stored', { terminal: 'main' })).rejects.toMatchObject({
    code: 'conflict',
  });
  const other = dial();
  await expect(hello(other)).rejects.toMatchObject({ code: 'conflict' });
  await expect(hello(agent, 'claimed')).rejects.toMatchObject({ code: 'conflict' });
});

it('tells an agent that comes back what it missed, then lets others call it', async () => {
  await logs.session('back');
  const sandbox = sandboxOf('back');
  sandbox.adopted = true;
  await listen(sandbox);
  const agent = dial();
  const answer = await hello(agent, 'back', 1);
  expect(answer.events).toEqual(await logs.log.read('back', { after: 1 }));
  expect(answer.assignment).toBeNull();
  await sandbox.greeted();
  const link = await until('the link', () => sandbox.link);
  expect(link).toMatchObject({ session: 'back', epoch: 0 });
  expect(await link.call('operation.call', { id: '1', operation: 'x', input: {} })).toEqual({
    output: null,
  });
});

it('gives an agent that was to begin when the server died its assignment', async () => {
  await logs.session('begin');
  const sandbox = sandboxOf('begin');
  sandbox.adopted = true;
  await listen(sandbox);
  const { assignment } = await hello(dial());
  const expected: Partial<Assignment> = { session: 'begin', epoch: 0 };
  expect(assignment).toMatchObject(expected);
  expect(assignment?.events).toEqual(await logs.log.read('begin', { after: 0 }));
});

it('stores events once and for its own session only', async () => {
  await logs.session('mine');
  const sandbox = sandboxOf('mine');
  sandbox.adopted = true;
  await listen(sandbox);
  const agent = dial();
  await hello(agent, 'mine');
  const event = {
    n: 1,
    time: new Date().toISOString(),
    action: 'plan',
    args: { markdown: '- [ ] all' },
    message: 'A plan.',
  };
  const append = (session: string) =>
    agent.call('events.append', { session, epoch: 0, events: [event] });
  const seqs = [(await logs.log.lastSeq('mine')) + 1];
  expect(await append('mine')).toEqual({ seqs });
  expect(await append('mine')).toEqual({ seqs });
  await expect(append('other')).rejects.toMatchObject({ code: 'forbidden' });
});

it('acknowledges what a terminal prints when it is stored, and goes on after a new server', async () => {
  await logs.session('terminal');
  const first = sandboxOf('terminal');
  first.adopted = true;
  await listen(first);
  const agent = dial();
  await hello(agent, 'terminal');
  const stream = await agent.open('terminal', { terminal: 'main', offset: 0 });
  const broken = new Promise((resolve) => stream.once('error', resolve));
  stream.write('hello ');
  await until('the acknowledgement', () => stream.acknowledged === 6);
  expect(await terminals.size('terminal', 'main')).toBe(6);
  await expect(agent.open('terminal', { terminal: 'main', offset: 9 })).rejects.toMatchObject({
    code: 'conflict',
  });

  // As after kill -9: another server listens at the same path and knows nothing of this rope.
  await listener.hangUpAll();
  const second = sandboxOf('terminal');
  second.adopted = true;
  await listen(second);
  await hello(agent, 'terminal', 2);
  await broken;
  const { offset } = await agent.call('terminal.stored', { terminal: 'main' });
  const again = await agent.open('terminal', { terminal: 'main', offset });
  again.end('world');
  await until('the rest', async () => (await terminals.size('terminal', 'main')) === 11);
  expect((await terminals.read('terminal', 'main', 0, 11)).toString()).toBe('hello world');
});
