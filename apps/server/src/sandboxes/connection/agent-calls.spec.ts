import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import {
  agentCalls,
  SentPrompt,
  serverCalls,
  type Event,
  type Message,
  type ModelReply,
  type ModelRequest,
  type StartPayload,
} from '@belay/protocol';
import { dialRpc, type RpcConnection, type RpcStream } from '@belay/rpc';
import { staysTrue, until } from '@belay/testing';
import { TransientNotices } from '../../logs/transient-notices.js';
import { TerminalFiles } from '../../logs/terminal-files.js';
import { TerminalLog } from '../../logs/terminal-log.js';
import { TestLogs } from '../../testing/logs.js';
import { AgentCalls } from './agent-calls.js';
import { ConnectionLog } from './connection-log.js';
import { AgentListener } from './agent-listener.js';
import { Sandbox } from '../lifecycle/sandbox.js';
import { ApprovedServices } from './approved-services.js';
import { ModelCalls } from './model-calls.js';
import { StorageCalls } from './storage-calls.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';

type Agent = RpcConnection<typeof agentCalls, typeof serverCalls>;
const logs = new TestLogs();
let folder: string;
let listener: AgentListener;
/** The sockets of containers, by sandbox. */
const sockets = new Map<string, Server>();
let files: TerminalFiles;
let terminals: TerminalLog;
let calls: AgentCalls;
let live: TransientNotices;
const agents: Agent[] = [];
/** What the models were asked, by session. */
const asked: { session: string; request: ModelRequest }[] = [];
const reply: ModelReply = {
  text: 'Yes.',
  calls: [],
  finish: 'stop',
  usage: { inputTokens: 1, cachedTokens: 0, outputTokens: 1, dollars: null },
  contextTokens: null,
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belay-'));
  await logs.open();
  listener = new AgentListener(logs.config);
  files = new TerminalFiles(logs.config);
  terminals = new TerminalLog(logs.config, files);
  const unused = null as never;
  const storage = new StorageCalls(logs.log, terminals, unused, unused, unused);
  const models = {
    generate: async (session: string, request: ModelRequest) => {
      asked.push({ session, request });
      return reply;
    },
  };
  const search = { isSetUp: true };
  const approved = new ApprovedServices(unused, unused, unused, search as never, unused, unused);
  live = new TransientNotices();
  const agents = { program: () => Promise.resolve(undefined) };
  const log = new ConnectionLog(logs.log, agents as never);
  const modelCalls = new ModelCalls(models as never, unused);
  calls = new AgentCalls(log, storage, approved, modelCalls, unused, live);
});
afterEach(async () => {
  asked.length = 0;
  await Promise.all(agents.splice(0).map((agent) => agent.close()));
  listener.hangUpAll();
  for (const server of sockets.values()) server.close();
  sockets.clear();
  await files.onApplicationShutdown();
  await rm(folder, { recursive: true });
});
afterAll(() => logs.close());

const sandboxOf = (session: string | null): Sandbox => {
  const options = { id: 'one', epoch: 0 };
  return new Sandbox(session === null ? options : { ...options, session });
};
const listen = async (sandbox: Sandbox, id = 'one'): Promise<void> => {
  listener.open(id, {
    admits: (agent) => sandbox.admits(agent),
    onConnection: (connection) => calls.serve(connection, sandbox),
    onBroken: (reason) => calls.reportBreach(sandbox, reason),
  });
  if (sockets.has(id)) return;
  const server = createServer();
  sockets.set(id, server);
  server.on('upgrade', (request, socket, head) => listener.dialled(id, { request, socket, head }));
  await once(server.listen(join(folder, id)), 'listening');
};

/** An agent that dials the sandbox’s socket, as in a container. */
function dial(received: Event[] = [], id = 'one'): Agent {
  const address = `unix:${join(folder, id)}`;
  const agent: Agent = dialRpc({ address, serves: agentCalls, calls: serverCalls });
  const nothing = async () => ({});
  agent.serve({
    'session.begin': nothing,
    'session.events': async ({ events }) => {
      received.push(...events);
      return {};
    },
    'operation.call': async () => ({ output: null }),
    'terminal.keys': nothing,
    'terminal.resize': nothing,
    'terminal.hold': nothing,
    'terminal.open': nothing,
    'browser.watch': nothing,
    'copies.checkOut': async () => ({ commit: 'aaaaaaa', without: [] }),
    'copies.flush': nothing,
    'check.run': () => Promise.reject(new Error('No check is run.')),
    shutdown: nothing,
  });
  agents.push(agent);
  return agent;
}

const hello = (agent: Agent, session: string | null = null, lastSeq = 0) =>
  agent.call('hello', { version: '1', session, epoch: 0, lastSeq });

it('leaves a warm agent waiting, and refuses calls before hello', async () => {
  const sandbox = sandboxOf(null);
  await listen(sandbox);
  const agent = dial();
  expect(await hello(agent)).toEqual({
    startPayload: null,
    events: [],
    storedN: 0,
    services: ['search'],
  });
  await sandbox.greeted();
  await expect(agent.call('terminal.stored', { terminal: 'main' })).rejects.toMatchObject({
    code: 'conflict',
  });
  const other = dial();
  await expect(hello(other)).rejects.toMatchObject({ code: 'forbidden' });
  await expect(hello(agent, 'claimed')).rejects.toMatchObject({ code: 'conflict' });
});

it('sends a reconnected agent the events that it missed, then allows calls to it', async () => {
  await logs.session('back');
  const sandbox = sandboxOf('back');
  sandbox.adopt();
  const published = new Promise((resolve) => {
    sandbox.onChange = (change) => change === 'published' && resolve(sandbox.link);
  });
  await listen(sandbox);
  const agent = dial();
  const answer = await hello(agent, 'back', 1);
  expect(answer.events).toEqual(await logs.log.read('back', { after: 1 }));
  expect(answer.startPayload).toBeNull();
  await sandbox.greeted();
  const link = await until('the link', () => sandbox.link);
  expect(link).toMatchObject({ session: 'back', epoch: 0 });
  expect(await published).toBe(link);
  expect(await link.call('operation.call', { id: '1', operation: 'x', input: {} })).toEqual({
    output: null,
  });
});

it('gives an agent that was to begin when the server died its startPayload', async () => {
  await logs.session('begin');
  const sandbox = sandboxOf('begin');
  sandbox.adopt();
  await listen(sandbox);
  const { startPayload } = await hello(dial());
  const expected: Partial<StartPayload> = { session: 'begin', epoch: 0 };
  expect(startPayload).toMatchObject(expected);
  expect(startPayload?.events).toEqual(await logs.log.read('begin', { after: 0 }));
});

it('stores events once and for its own session only', async () => {
  await logs.session('mine');
  const sandbox = sandboxOf('mine');
  sandbox.adopt();
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

it('acknowledges terminal output once it is stored, and continues with a new server', async () => {
  await logs.session('terminal');
  const first = sandboxOf('terminal');
  first.adopt();
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

  // As after kill -9: another server listens at the same path and knows nothing of this connection.
  listener.hangUpAll();
  const second = sandboxOf('terminal');
  second.adopt();
  await listen(second);
  await hello(agent, 'terminal', 2);
  await broken;
  const { offset } = await agent.call('terminal.stored', { terminal: 'main' });
  const again = await agent.open('terminal', { terminal: 'main', offset });
  again.end('world');
  await until('the rest', async () => (await terminals.size('terminal', 'main')) === 11);
  expect((await terminals.read('terminal', 'main', 0, 11)).toString()).toBe('hello world');
});

it('streams a workspace into its sandbox, and shows how far the agent has it', async () => {
  await logs.session('copy');
  const sandbox = sandboxOf('copy');
  sandbox.adopt();
  await listen(sandbox);
  const agent = dial();
  const taken = Promise.withResolvers<void>();
  let received = 0;
  const unpack = async (stream: RpcStream): Promise<void> => {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      received += (chunk as Buffer).length;
      if (received >= 200_000) await taken.promise;
    }
    stream.end();
  };
  agent.accept('workspace.import', async (_, stream) => void unpack(stream));
  await hello(agent, 'copy');
  const shown: { done: number; total: number | null }[] = [];
  live.on('copied', ({ done, total }) => shown.push({ done, total }));
  const tar = new PassThrough();
  const importing = calls.importWorkspace(sandbox, async () => ({ tar, bytes: 400_000 }));
  for (let part = 0; part < 4; part += 1) tar.write(Buffer.alloc(50_000));
  // The agent has the first part while the second is still to come, and nothing keeps either.
  await until('the first part', () => received >= 200_000);
  await until('it is shown', () => shown.some(({ done }) => done > 0 && done < 400_000));
  taken.resolve();
  tar.end(Buffer.alloc(200_000));
  await importing;
  expect(received).toBe(400_000);
  expect(new Set(shown.map(({ total }) => total))).toEqual(new Set([400_000]));
  const { length } = shown;
  await staysTrue('nothing more is shown', 500, () => shown.length === length);
});

describe('the prompt of an agent', () => {
  const user = (text: string): Message => ({ role: 'user', text, images: [] });
  const [a, b, c] = [user('a'), user('b'), user('c')];
  const whole = (number: number, ...messages: Message[]) => ({
    purpose: 'turn' as const,
    operations: [],
    number,
    messages,
  });
  const begun = async (session: string, id: string): Promise<Agent> => {
    await logs.session(session);
    const sandbox = sandboxOf(session);
    sandbox.adopt();
    await listen(sandbox, id);
    const agent = dial([], id);
    await hello(agent, session);
    return agent;
  };
  const texts = () =>
    asked.map(({ session, request }) => [
      session,
      ...request.messages.map((message) => (message.role === 'tool' ? '' : message.text)),
    ]);

  it('is complete for the model, and works with a new server and beside another session', async () => {
    const agent = await begun('prompt', 'one');
    const other = await begun('prompt-other', 'two');
    const ends = [agent, other].map((each) => ({ each, sent: new SentPrompt(), sizes: [0] }));
    const generate = async (...messages: Message[]) => {
      for (const { each, sent, sizes } of ends) {
        await sent.send({ purpose: 'turn', operations: [], messages }, (call) => {
          sizes.push(call.messages.length);
          return each.call('model.generate', call);
        });
      }
    };
    await generate(a, b);
    await generate(a, b, c);
    listener.hangUpAll();
    const again = ['prompt', 'prompt-other'].map(sandboxOf);
    for (const [index, sandbox] of again.entries()) {
      sandbox.adopt();
      await listen(sandbox, index === 0 ? 'one' : 'two');
    }
    await hello(agent, 'prompt', 2);
    await hello(other, 'prompt-other', 2);
    await generate(a, b, c, a);
    await generate(a, c);
    const expected = [
      ['a', 'b'],
      ['a', 'b', 'c'],
      ['a', 'b', 'c', 'a'],
      ['a', 'c'],
    ];
    expect(texts()).toEqual(
      expected.flatMap((each) => [
        ['prompt', ...each],
        ['prompt-other', ...each],
      ]),
    );
    for (const { sizes } of ends) expect(sizes).toEqual([0, 2, 1, 1, 4, 1]);
  });

  it('is refused in one sentence when it builds on what is not its own, which harms nothing', async () => {
    const agent = await begun('honest', 'one');
    const other = await begun('hostile', 'two');
    await agent.call('model.generate', whole(1, a, b));
    const ask = (base: { number: number; messages: number }) =>
      other.call('model.generate', { ...whole(2, c), base });
    await expect(ask({ number: 1, messages: 2 })).rejects.toMatchObject({
      code: 'conflict',
      message: 'The request builds on one that the server does not have; send all of its messages.',
    });
    await other.call('model.generate', whole(1, c));
    await expect(ask({ number: 1, messages: 2 })).rejects.toMatchObject({ code: 'conflict' });
    await expect(ask({ number: 1, messages: -1 })).rejects.toMatchObject({ code: 'invalid_input' });
    const base = { number: 1, messages: 2 };
    await agent.call('model.generate', { ...whole(2, c), base });
    await other.call('model.generate', whole(3, a));
    await ask({ number: 3, messages: 1 });
    expect(texts()).toEqual([
      ['honest', 'a', 'b'],
      ['hostile', 'c'],
      ['honest', 'a', 'b', 'c'],
      ['hostile', 'a'],
      ['hostile', 'a', 'c'],
    ]);
  });
});
