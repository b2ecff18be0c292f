import { once } from 'node:events';
import {
  actionManifest,
  actionOutput,
  AppError,
  commandEnding,
  essentialOperations,
  mcpToolNamed,
  operations,
  readableOutput,
  toolName,
  type Operation,
  type OperationName,
} from '@belay/protocol';
import { until } from '@belay/testing';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import { AcpEditor } from '../testing/acp-editor.js';
import { operationResults, operationSamples } from '../testing/operation-samples.js';
import { actionRecord } from '../actions/action-record.js';
import { ActionStore } from '../actions/action.store.js';
import { InstalledServers } from '../actions/installed-servers.js';
import { toolsProgram } from '../actions/testing/tools-program.js';
import { McpPrograms } from '../programs/mcp-programs.js';
import type { ContainedProgram } from '../programs/program.js';
import { TestServer } from '../testing/server.js';

/** What came of a call, in the same words for every API. */
type Outcome = { output: unknown } | { code: string; message: string };

/** How a call that the agent makes is shown: its input, and its result in words. */
interface Shown {
  input: unknown;
  status: unknown;
  words: string;
}

/** An API for programs: add one here, and every operation that it shows is called through it. */
interface Api {
  shows: readonly Operation[];
  call(operation: string, input: unknown): Promise<Outcome>;
  /** A call without a session, of a tool of an installed MCP server. */
  alone?(operation: string, input: unknown): Promise<unknown>;
  /** The log of the session as the API has it. */
  events?(): Promise<{ action: string; args?: unknown }[]>;
}

/** ACP calls no operations: it shows those of the agent, but for those that are words of a chat. */
const inEditors = Object.values<Operation>(operations).filter(
  ({ display }) => !['event', 'question', 'ending', 'thought'].includes(display),
);

const forUsers = Object.values<Operation>(operations).filter(({ audience }) =>
  audience.includes('user'),
);

const installed = (name: string, kind: 'action' | 'mcp') =>
  actionRecord.parse({
    name,
    kind,
    enabled: true,
    current: {
      image: 'sha256:0',
      digest: '0'.repeat(64),
      manifest: actionManifest.parse({
        kind,
        name_for_human: name,
        name_for_model: name,
        description_for_human: 'Paints.',
        description_for_model: 'Paints in a colour.',
      }),
      readme: null,
      source: { from: name, version: null, commit: null, folder: '' },
      installed: '2026-01-01T00:00:00Z',
    },
    earlier: [],
  });

describe('every operation through every API', () => {
  const server = new TestServer();
  const apis: Record<string, Api> = {};
  const closing: (() => unknown)[] = [];
  let session: string;
  let editor: AcpEditor;

  beforeAll(async () => {
    const programs = { run: async (program: ContainedProgram) => toolsProgram(program) };
    await server.replace(McpPrograms, programs).start();
    const store = server.app.get(ActionStore);
    await store.put(installed('painter', 'action'));
    await store.put(installed('weather', 'mcp'));
    await server.app.get(InstalledServers).refresh('weather');
    session = await server.session({ approvals: 'auto' });
    apis['rest'] = rest();
    apis['gpt'] = gpt();
    apis['mcp'] = await mcp();
    apis['websocket'] = await socket();
    editor = await new AcpEditor().connect(server.url, server.token);
    closing.push(() => editor.close());
    await editor.initialize();
    await editor.load(session, '');
    // A turn that is under way: what happens is shown.
    editor.prompt(session, 'Work').catch(() => undefined);
  });
  afterAll(async () => {
    await Promise.all(closing.map((close) => close()));
    await server.close();
  });

  const post = (path: string, body: unknown) => server.json('POST', path, body);
  const problemOf = ({ code, detail }: Record<string, unknown>): Outcome => ({
    code: String(code),
    message: String(detail),
  });

  const rest = (): Api => ({
    shows: forUsers,
    call: async (operation, input) => {
      const answer = await server.fetch(`/api/sessions/${session}/operations/${operation}`, {
        method: 'POST',
        body: JSON.stringify(input),
        headers: { 'content-type': 'application/json' },
      });
      const body = (await answer.json()) as Record<string, unknown>;
      return answer.status === 200 ? { output: body } : problemOf(body);
    },
    alone: async (operation, input) => {
      const { server: name, name: tool } = mcpToolNamed(operation)!;
      const answer = await server.fetch(`/api/actions/${name}/tools/${tool}/calls`, {
        method: 'POST',
        body: JSON.stringify(input),
        headers: { 'content-type': 'application/json' },
      });
      return answer.json();
    },
    events: () => server.json('GET', `/api/sessions/${session}/events`) as never,
  });

  const gpt = (): Api => ({
    shows: essentialOperations,
    call: async (operation, input) => {
      const path = `/gpt/operations/${toolName(operation)}?session=${session}`;
      const body = await post(path, input);
      return body['code'] === undefined ? { output: body['output'] } : problemOf(body);
    },
    events: async () =>
      (await server.json('GET', `/gpt/events?session=${session}`))['events'] as never,
  });

  const mcp = async (): Promise<Api> => {
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', server.url), {
      requestInit: { headers: { authorization: `Bearer ${server.token}` } },
    });
    await client.connect(transport as Parameters<Client['connect']>[0]);
    closing.push(() => client.close());
    // From now on, the client checks results by their output schemas.
    await client.listTools();
    return {
      shows: forUsers,
      call: async (operation, input) => {
        const args = { ...Object(input), session } as Record<string, unknown>;
        const result = await client.callTool({ name: toolName(operation), arguments: args });
        const problem = Object(result._meta?.['belay/problem']) as Record<string, unknown>;
        return result.isError ? problemOf(problem) : { output: result.structuredContent };
      },
      alone: async (operation, input) => {
        const args = { ...Object(input) } as Record<string, unknown>;
        return (await client.callTool({ name: toolName(operation), arguments: args }))
          .structuredContent;
      },
      events: async () => {
        const asked = { name: 'session_events', arguments: { session } };
        const { structuredContent } = await client.callTool(asked);
        return Object(structuredContent).events as never;
      },
    };
  };

  const socket = async (): Promise<Api> => {
    const connection = new WebSocket(`${server.url.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${server.token}` },
    } as never);
    await once(connection as never, 'open');
    closing.push(() => connection.close());
    const waiting = new Map<number, (reply: Reply) => void>();
    connection.onmessage = ({ data }) => {
      const reply = JSON.parse(String(data)) as Reply;
      waiting.get(reply.id ?? 0)?.(reply);
    };
    let id = 0;
    const send = (action: string, args: object): Promise<Reply> => {
      id += 1;
      const { promise, resolve } = Promise.withResolvers<Reply>();
      waiting.set(id, resolve);
      connection.send(JSON.stringify({ action, args, id }));
      return promise;
    };
    const ask = (action: string, input: unknown) => send(action, { ...Object(input), session });
    return {
      shows: forUsers,
      alone: async (action, input) => (await send(action, { ...Object(input) })).args['result'],
      events: async () => (await ask('events', {})).args['events'] as never,
      call: async (action, input) => {
        const { action: kind, args, message } = await ask(action, input);
        return kind === 'error'
          ? { code: String(args['code']), message }
          : { output: args['result'] };
      },
    };
  };

  const through = async (
    operation: Operation,
    input: unknown,
  ): Promise<Record<string, Outcome>> => {
    const showing = Object.entries(apis).filter(([, { shows }]) => shows.includes(operation));
    const outcomes = showing.map(async ([name, api]) => [
      name,
      await api.call(operation.name, input),
    ]);
    return Object.fromEntries(await Promise.all(outcomes)) as Record<string, Outcome>;
  };
  let calls = 0;
  /** The agent makes a call, and its result is written. */
  const shownInEditor = async (
    operation: string,
    { input, ...ended }: { input: unknown; ok: boolean; output: unknown },
  ): Promise<Shown> => {
    calls += 1;
    const id = `call-${calls}`;
    const says = (action: string, args: object) =>
      server.sandboxes.says(server.log, session, { action, args, id });
    await says(operation, Object(input) as object);
    await says('result', { operation, ...ended, seconds: 0 });
    const update = await until('the result', () =>
      editor.of('tool_call_update').find(({ toolCallId }) => toolCallId === id),
    );
    const call = editor.of('tool_call').find(({ toolCallId }) => toolCallId === id);
    const [block] = update.content ?? [];
    const isText = block?.type === 'content' && block.content.type === 'text';
    const words = isText && block.content.type === 'text' ? block.content.text : '';
    return { input: call?.rawInput, status: update.status, words };
  };
  const same = (outcomes: Record<string, Outcome>): Outcome | undefined => {
    const { rest: expected, ...others } = outcomes;
    for (const [api, outcome] of Object.entries(others))
      expect({ api, ...outcome }).toEqual({ api, ...expected });
    return expected;
  };

  it('good input arrives whole, its defaults filled in, and an error comes back as it is', async () => {
    server.sandboxes.answer = (operation, input) => {
      throw new AppError('tool_failed', `${operation} got ${JSON.stringify(input)}`);
    };
    for (const operation of forUsers) {
      const input = operationSamples[operation.name as keyof typeof operationSamples] ?? {};
      const arrived = operation.input.parse(input);
      const outcome = same(await through(operation, input));
      const message = `${operation.name} got ${JSON.stringify(arrived)}`;
      expect(outcome).toEqual({ code: 'tool_failed', message });
    }
  });

  it('bad input is refused with the same sentence, and reaches no agent', async () => {
    const refused: string[] = [];
    server.sandboxes.answer = (operation) => {
      throw new Error(`${operation} was called`);
    };
    for (const operation of forUsers) {
      const { properties = {} } = z.toJSONSchema(operation.input, { io: 'input' });
      const input = Object.fromEntries(Object.keys(properties).map((name) => [name, [1]]));
      if (Object.keys(input).length === 0) continue;
      expect(same(await through(operation, input))).toMatchObject({ code: 'invalid_input' });
      refused.push(operation.name);
    }
    expect(refused.length).toBeGreaterThan(25);
  });

  it.each(Object.keys(operationResults))('a result of %s is the same', async (name) => {
    const operation = operations[name as OperationName];
    const output = operation.output.parse(operationResults[operation.name]);
    server.sandboxes.answer = () => output;
    const outcomes = await through(operation, operationSamples[operation.name] ?? {});
    expect(same(outcomes)).toEqual({ output });
  });

  it('an installed action is one of them', async () => {
    const name = 'action.painter';
    const { gpt: _, ...all } = apis;
    const callAll = async (input: unknown) => {
      const outcomes = Object.entries(all).map(async ([api, { call }]) => [
        api,
        await call(name, input),
      ]);
      return Object.fromEntries(await Promise.all(outcomes)) as Record<string, Outcome>;
    };
    const output = actionOutput.parse({ text: 'painted', errors: '', exitCode: 0, seconds: 1 });
    const arrived: unknown[] = [];
    server.sandboxes.answer = (operation, input) => {
      arrived.push([operation, input]);
      return output;
    };
    expect(same(await callAll({ args: ['red'] }))).toEqual({ output });
    expect(new Set(arrived.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify([name, { args: ['red'] }])]),
    );
    const get = async (path: string) => JSON.stringify(await server.json('GET', path));
    expect(await get('/api/operations')).toContain('"name":"action.painter"');
    expect(await get('/api/operations/tools')).toContain('"name":"action_painter"');
    expect(await get('/openapi.json')).toContain('"/api/actions/painter/calls"');
    // The control: one that the session was not given.
    const other = await server.json('POST', `/api/sessions/${session}/operations/action.other`, {});
    expect(other).toMatchObject({ code: 'not_found' });
  });

  it('a tool of an installed MCP server is one of them, in a session and without one', async () => {
    const name = 'mcp.weather.echo';
    const output = { text: 'you said hi' };
    server.sandboxes.answer = (operation, input) => {
      expect([operation, input]).toEqual([name, { text: 'hi' }]);
      return output;
    };
    const { gpt: _, ...all } = apis;
    const called = async () => {
      const outcomes = Object.entries(all).map(async ([api, { call }]) => [
        api,
        await call(name, { text: 'hi' }),
      ]);
      return Object.fromEntries(await Promise.all(outcomes)) as Record<string, Outcome>;
    };
    expect(same(await called())).toEqual({ output });
    const get = async (path: string) => JSON.stringify(await server.json('GET', path));
    expect(await get('/api/operations')).toContain(`"name":"${name}"`);
    expect(await get('/api/operations/tools')).toContain('"name":"mcp_weather_echo"');
    const path = '/api/actions/weather/tools/echo/calls';
    expect(await get('/openapi.json')).toContain(`"${path}"`);
    for (const api of ['rest', 'mcp', 'websocket'])
      expect([api, await apis[api]?.alone?.(name, { text: 'hi' })]).toEqual([api, output]);
    // The control: one that the server does not have.
    const other = await server.json('POST', '/api/actions/weather/tools/other/calls', {});
    expect(other).toMatchObject({ code: 'not_found' });
  });

  it('the plan and what became of it are the same', async () => {
    const markdown = '- [x] look\n- [ ] paint';
    await server.sandboxes.says(server.log, session, { action: 'plan', args: { markdown } });
    await until('the editor has it', () => editor.of('plan').length > 0);
    expect(editor.of('plan').at(-1)).toMatchObject({
      entries: [{ content: 'look', status: 'completed' }, { content: 'paint' }],
    });
    for (const [api, { events }] of Object.entries(apis)) {
      const plans = (await events?.())?.filter(({ action }) => action === 'plan');
      expect({ api, plans }).toMatchObject({ api, plans: [{ args: { markdown } }] });
    }
    const { plan } = await server.json('GET', `/api/sessions/${session}`);
    expect(plan).toEqual({ steps: 2, done: 1 });
  });

  it('ACP shows the same input of every operation, the same result and the same error', async () => {
    for (const operation of inEditors) {
      const input = operation.input.parse(operationSamples[operation.name as OperationName] ?? {});
      const message = `${operation.name} did not work`;
      const error = new AppError('tool_failed', message).toJSON();
      const failed = await shownInEditor(operation.name, { input, ok: false, output: error });
      expect(failed).toEqual({
        input,
        status: 'failed',
        words: message,
      });
      const result = operationResults[operation.name as OperationName];
      if (result === undefined) continue;
      const output = operation.output.parse(result);
      const ended = { operation: operation.name, ok: true, output };
      const { words } = await shownInEditor(operation.name, { input, ...ended });
      expect({ name: operation.name, words }).toEqual({
        name: operation.name,
        words: [readableOutput(ended), commandEnding(ended)].filter(Boolean).join('\n'),
      });
    }
  });
});

interface Reply {
  id?: number;
  action: string;
  args: Record<string, unknown>;
  message: string;
}
