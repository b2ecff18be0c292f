import { PassThrough } from 'node:stream';
import { Logger } from '@nestjs/common';
import type { ProgramEnd } from '@belay/containers';
import {
  actionManifest,
  actionOperation,
  AppError,
  isEvent,
  type ActionOutput,
  type Event,
  type StartedAction,
} from '@belay/protocol';
import { until } from '@belay/testing';
import { EventLog } from '../logs/event-log.js';
import { TestServer } from '../testing/server.js';
import { ActionCalls } from './action-calls.js';
import { ActionContainers } from './containers/action-containers.js';
import type { ActionRun } from './containers/action-run.js';
import { actionRecord } from './action-record.js';
import { ActionStore } from './action.store.js';
import { InstalledActions } from './installed-actions.js';

const renderer = actionRecord.parse({
  name: 'render',
  kind: 'action',
  enabled: true,
  current: {
    image: 'sha256:0',
    digest: '0'.repeat(64),
    manifest: actionManifest.parse({
      name_for_human: 'Render',
      name_for_model: 'render',
      description_for_human: 'Renders.',
      description_for_model: 'Renders a scene.',
      parameters: { type: 'object', properties: { scene: { type: 'string' } } },
      asynchronous: true,
    }),
    readme: null,
    source: { from: 'render', version: null, commit: null, folder: '' },
    installed: '2026-01-01T00:00:00Z',
  },
  earlier: [],
});

/** A program of an action, which a test has print and end. */
class Program {
  readonly input = new PassThrough().resume();
  readonly #output = new PassThrough();
  readonly #ended = Promise.withResolvers<ProgramEnd>();
  readonly ended = this.#ended.promise;
  isStopped = false;

  constructor(readonly run: ActionRun) {}

  get output() {
    return pieces(this.#output);
  }

  print(text: string): void {
    this.#output.end(text);
    this.#ended.resolve({ code: 0 });
  }

  stop = (): Promise<ProgramEnd> => {
    this.isStopped = true;
    this.#output.end();
    this.#ended.resolve({});
    return this.ended;
  };
}

async function* pieces(output: PassThrough) {
  for await (const data of output) yield { isError: false, data: data as Buffer };
}

describe('calls of actions in the background', () => {
  const server = new TestServer();
  let programs: Program[];
  const begin = async () => {
    const start = async (run: ActionRun): Promise<Program> => {
      const program = new Program(run);
      programs.push(program);
      return program;
    };
    const beforeApplicationShutdown = () => Promise.resolve();
    await server.replace(ActionContainers, { start, beforeApplicationShutdown }).start();
  };
  beforeAll(async () => {
    await begin();
    await server.app.get(ActionStore).put(renderer);
  });
  beforeEach(() => void (programs = []));
  afterEach(() => void jest.restoreAllMocks());
  afterAll(() => server.close());

  const signal = new AbortController().signal;
  let calls = 0;
  const ask = async (session: string, input: object = {}) => {
    const id = `call-${(calls += 1)}`;
    await server.sandboxes.says(server.log, session, { action: 'action.render', args: input, id });
    return id;
  };
  const run = (session: string, id: string): Promise<ActionOutput | StartedAction> =>
    server.app.get(ActionCalls).run(session, id, signal);
  const called = async (session: string, input: object = {}) => {
    const id = await ask(session, input);
    const answer = await run(session, id);
    const args = { operation: 'action.render', ok: true, output: answer, seconds: 0 };
    await server.sandboxes.says(server.log, session, { action: 'result', args, id });
    return { id, answer };
  };
  const backgroundResults = async (session: string): Promise<Event[]> =>
    (await server.log.read(session, { after: 0 })).filter((event) =>
      isEvent(event, 'background-result'),
    );
  const arrived = (session: string, count = 1) =>
    until('the result', async () => {
      const all = await backgroundResults(session);
      return all.length >= count && all;
    });

  it('are answered with their id, and end in the log, for the agent and all who follow', async () => {
    const session = await server.session({ approvals: 'auto' });
    const { id, answer } = await called(session, { scene: 'a' });
    expect(answer).toMatchObject({ background: id });
    await until('the program', () => programs.length === 1);
    expect(programs[0]?.run).toMatchObject({ name: 'render', session, args: ['scene=a'] });
    expect(await backgroundResults(session)).toEqual([]);
    expect((await server.log.summary(session)).current).toMatch(/^action\.render/);
    programs[0]?.print('rendered');
    const [event] = await arrived(session);
    expect((await server.log.summary(session)).current).toBeNull();
    expect(event).toMatchObject({
      source: 'server',
      id,
      args: { operation: 'action.render', ok: true, output: { text: 'rendered', exitCode: 0 } },
    });
    const { received } = await until('the agent', () => {
      const agent = server.sandboxes.agents.get(session);
      return agent?.received.some(({ action }) => action === 'background-result') && agent;
    });
    expect(received.filter(({ action }) => action === 'background-result')).toHaveLength(1);
    // A second run of the same call, and a call with an input that it does not have, are refused at once.
    await expect(run(session, id)).rejects.toMatchObject({ code: 'conflict' });
    await expect(run(session, await ask(session, { scene: 1 }))).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await server.json('POST', `/api/sessions/${session}/stop`);
  });

  it('are waited for by users', async () => {
    const session = await server.session({ approvals: 'auto' });
    const [action] = server.app.get(InstalledActions).forSession(['render']);
    const operation = actionOperation(action!);
    server.log.userCalls.add(session, 'user-1', { operation, input: {} });
    const result = run(session, 'user-1');
    await until('the program', () => programs.length === 1);
    programs[0]?.print('for you');
    expect(await result).toMatchObject({ text: 'for you' });
    expect(await backgroundResults(session)).toEqual([]);
    await server.json('POST', `/api/sessions/${session}/stop`);
  });

  it('are few at a time, and end with their session', async () => {
    const session = await server.session({ approvals: 'auto' });
    for (let count = 0; count < 4; count += 1) await called(session);
    await expect(run(session, await ask(session))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('4 calls of this session'),
    });
    await until('the programs', () => programs.length === 4);
    await server.json('POST', `/api/sessions/${session}/stop`);
    const ends = await arrived(session, 4);
    expect(programs.every(({ isStopped }) => isStopped)).toBe(true);
    expect(ends[0]?.args).toMatchObject({
      ok: false,
      output: { code: 'cancelled', message: expect.stringContaining('stopped') },
    });
    // The control: their places are free again.
    const other = await server.session({ approvals: 'auto' });
    await called(other);
    await until('the program', () => programs.length === 5);
    programs[4]?.print('free');
    await arrived(other);
    await server.json('POST', `/api/sessions/${other}/stop`);
  });

  it('that a restart of the server cuts off are told as lost, once', async () => {
    const session = await server.session({ approvals: 'auto' });
    const { id } = await called(session);
    await until('the program', () => programs.length === 1);
    await server.app.close();
    expect(programs[0]?.isStopped).toBe(true);
    await begin();
    const [event] = await arrived(session);
    expect(event).toMatchObject({
      id,
      args: {
        ok: false,
        output: { message: expect.stringContaining('The server was restarted during this call') },
      },
    });
    await server.app.close();
    await begin();
    expect(await backgroundResults(session)).toHaveLength(1);
  });

  /** Refuses the results that are chosen as a full disk would. */
  const refuseResults = (isRefused: (session: string) => boolean) => {
    const append = EventLog.prototype.append;
    return jest.spyOn(EventLog.prototype, 'append').mockImplementation(function (
      this: EventLog,
      to,
      events,
    ) {
      const isResult =
        typeof events !== 'function' && events.some(({ action }) => action === 'background-result');
      if (!isResult || !isRefused(to)) return append.call(this, to, events);
      return Promise.reject(new AppError('disk_full', 'The disk is full.'));
    });
  };

  it('leave their places to others when they cannot be written, and say so once', async () => {
    const session = await server.session({ approvals: 'auto' });
    let refused = 0;
    const appends = refuseResults((to) => to === session && (refused += 1) > 0);
    const warned = jest.spyOn(Logger.prototype, 'warn');
    const { id } = await called(session);
    for (let count = 1; count < 4; count += 1) await called(session);
    await until('the programs', () => programs.length === 4);
    for (const program of programs) program.print('done');
    await until('each was refused, and one of them again', () => refused > 4);
    const next = await called(session);
    expect(next.answer).toMatchObject({ background: next.id });
    const about = warned.mock.calls.filter(([text]) => String(text).includes(id));
    expect(about).toEqual([[expect.stringContaining('could not be written')]]);
    warned.mockRestore();
    appends.mockRestore();
    // The control: they are written as soon as they can be.
    await arrived(session, 4);
    await server.json('POST', `/api/sessions/${session}/stop`);
  });

  it('are told as lost once they can be written', async () => {
    const session = await server.session({ approvals: 'auto' });
    const { id } = await called(session);
    await until('the program', () => programs.length === 1);
    await server.app.close();
    let refused = 0;
    const appends = refuseResults(() => refused === 0 && (refused += 1) > 0);
    await begin();
    const [event] = await arrived(session);
    expect([event?.id, refused]).toEqual([id, 1]);
    appends.mockRestore();
  });
});
