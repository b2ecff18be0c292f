import { once } from 'node:events';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { methods } from '@agentclientprotocol/sdk';
import {
  allRoutes,
  commandAction,
  idsOf,
  ignoreError,
  newEvent,
  sessionCommands,
  type AuditPage,
  type SessionCommand,
  type SessionCommandName,
} from '@belay/protocol';
import { until } from '@belay/testing';
import { AcpEditor } from '../testing/acp-editor.js';
import { TestServer } from '../testing/server.js';

jest.setTimeout(60_000);

type Input = Record<string, unknown>;
/** What came of a call: `ok`, or the code of the error. */
type Call = (name: SessionCommandName, input: Input) => Promise<string>;

/** A way in: the commands that it has, and how one is called. */
interface Api {
  has(name: SessionCommandName): boolean;
  call: Call;
}

const commands: Record<SessionCommandName, SessionCommand> = sessionCommands;
const names = Object.keys(sessionCommands) as SessionCommandName[];
const changing = names.filter((name) => commands[name].scope !== 'view');
const routeOf = (name: SessionCommandName) => allRoutes.find(({ command }) => command === name);

/** What each command is sent besides the session, and what must be before it. */
const scenes: Record<SessionCommandName, { input?: Input; before?: SessionCommandName }> = {
  start: { input: { task: 'Paint', model: 'scripted:x' } },
  list: {},
  status: {},
  events: {},
  wait: { input: { seconds: 0 } },
  message: { input: { text: 'In blue.', delivery: 'steer' } },
  edit: { input: { text: 'In red.' }, before: 'message' },
  withdraw: { before: 'message' },
  answer: { input: { id: 'q', verdict: 'approved' } },
  pause: {},
  interrupt: {},
  resume: { before: 'pause' },
  stop: {},
  restart: { before: 'stop' },
  change: { input: { approvals: 'delay' } },
  remove: { before: 'stop' },
  wake: { before: 'stop' },
  fork: { input: { seq: 1 } },
  rewind: { input: { seq: 1, what: 'conversation' } },
};

describe('every command through every API', () => {
  const server = new TestServer();
  const closing: (() => unknown)[] = [];
  let apis: Record<string, Api>;
  let viewers: Record<string, Api>;

  const all = async (token: string): Promise<Record<string, Api>> => ({
    rest: rest(token),
    mcp: await mcp(token),
    ws: await socket(token),
    acp: acp(token),
  });
  beforeAll(async () => {
    await server.start({ BELAY_MAX_SANDBOXES: '500' });
    apis = await all(server.token);
    viewers = await all(server.viewerToken);
  });
  afterAll(async () => {
    await Promise.all(closing.map((close) => close()));
    await server.close();
  });

  const rest = (token: string): Api => ({
    has: (name) => routeOf(name) !== undefined,
    async call(name, { ...body }) {
      const { path, method } = routeOf(name)!;
      const ids = idsOf(commands[name]).map((id) => {
        const value = String(body[id]);
        Reflect.deleteProperty(body, id);
        return value;
      });
      const answer = await server.fetch(
        path.replaceAll(/:\w+/g, () => ids.shift() ?? ''),
        {
          method,
          token,
          headers: { 'content-type': 'application/json' },
          ...(commands[name].body && { body: JSON.stringify(body) }),
        },
      );
      return answer.ok ? 'ok' : ((await answer.json()) as { code: string }).code;
    },
  });

  const mcp = async (token: string): Promise<Api> => {
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', server.url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    });
    await client.connect(transport as Parameters<Client['connect']>[0]);
    closing.push(() => client.close());
    return {
      has: (name) => commands[name].audience.includes('model'),
      async call(name, input) {
        const result = await client.callTool({ name: `session_${name}`, arguments: input });
        return result.isError ? String(Object(result._meta?.['belay/problem']).code) : 'ok';
      },
    };
  };

  const socket = async (token: string): Promise<Api> => {
    const connection = new WebSocket(`${server.url.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${token}` },
    } as never);
    await once(connection as never, 'open');
    closing.push(() => connection.close());
    const waiting = new Map<number, (outcome: string) => void>();
    connection.onmessage = ({ data }) => {
      const { id = 0, action, args } = JSON.parse(String(data)) as Input & { id?: number };
      waiting.get(id)?.(action === 'error' ? String(Object(args).code) : 'ok');
    };
    return {
      has: () => true,
      call(action, args) {
        const { promise, resolve } = Promise.withResolvers<string>();
        const id = waiting.size + 1;
        waiting.set(id, resolve);
        connection.send(JSON.stringify({ action, args, id }));
        return promise;
      },
    };
  };

  /** An editor for each call: a turn goes on until its session rests. */
  const acp = (token: string): Api => ({
    has: (name) => ['start', 'message', 'stop', 'change', 'answer'].includes(name),
    async call(name, { session, ...input }) {
      const editor = await new AcpEditor().connect(server.url, token);
      closing.push(() => editor.close());
      await editor.initialize();
      const coded = (error: { data?: { code?: string } }) => String(error.data?.code);
      try {
        const id = name === 'start' ? (await editor.begin()).sessionId : String(session);
        if (name !== 'start') await editor.load(id);
        if (name === 'change') {
          const modeId = String(input['approvals']);
          await editor.agent.request(methods.agent.session.setMode, { sessionId: id, modeId });
          return 'ok';
        }
        const last = async () =>
          (await server.log.summaries()).find((one) => one.id === id)?.lastSeq;
        const before = (await last()) ?? 0;
        const prompts = [input['text'], input['task']];
        const refused = editor
          .prompt(id, prompts.find((text) => typeof text === 'string') ?? 'Go on')
          .then(() => 'ok', coded);
        const taken = until('the prompt', async () => ((await last()) ?? 0) > before && 'ok');
        const outcome = await Promise.race([refused, taken.catch(() => 'timeout')]);
        if (outcome === 'ok' && name === 'stop') {
          await editor.agent.notify(methods.agent.session.cancel, { sessionId: id });
          await server.reaches(id, 'stopped');
        }
        return outcome;
      } catch (error) {
        return coded(error as never);
      }
    },
  });

  const audit = async () => (await server.json<AuditPage>('GET', '/api/audit?limit=5')).entries;
  const newestAudit = (api: string, action: string, outcome: string) =>
    until(`${api} records ${action}`, async () =>
      (await audit()).find(
        (one) => one.api === api && one.action === action && one.outcome === outcome,
      ),
    );

  const prepared = async (name: SessionCommandName): Promise<Input> => {
    const { input, before } = scenes[name];
    if (name === 'start' || name === 'list') return { ...input };
    const session = await server.session({ approvals: 'ask' });
    if (before) {
      const text = { text: 'In green.' };
      expect(await apis['rest']?.call(before, { session, ...(before === 'message' && text) })).toBe(
        'ok',
      );
    }
    const { lastSeq: message } = await server.log.summary(session);
    if (name === 'answer') {
      const request = { id: 'q', operation: 'terminal.run', input: {}, risk: 'execute' };
      const args = { ...request, subject: 'ls', mode: 'ask', until: null } as never;
      await server.log.append(session, [
        newEvent('server', 'approval', { args, message: 'May it?', id: 'q' }),
      ]);
    }
    const isAbout = commands[name].about === 'message';
    return { session, ...(isAbout && { message }), ...input };
  };

  const usersEvents = async (session: string, after: number) => {
    const events = await server.log.read(session, { after });
    return events
      .filter(({ source }) => source === 'user')
      .map(({ action, args }) => ({ action, args }));
  };

  it.each(names)('%s has the same effect and is recorded by the same name', async (name) => {
    const effects: Record<string, unknown> = {};
    // Over ACP an approval is answered when the editor is asked: acp-api.spec.ts.
    const isTried = (api: string) => api !== 'acp' || name !== 'answer';
    for (const [api, { has, call }] of Object.entries(apis)) {
      if (!has(name) || !isTried(api)) continue;
      const input = await prepared(name);
      const session = String(input['session']);
      const after = 'session' in input ? (await server.log.summary(session)).lastSeq : 0;
      expect({ api, outcome: await call(name, input) }).toEqual({ api, outcome: 'ok' });
      if (!changing.includes(name)) continue;
      const entry = await newestAudit(api, commandAction(name), 'ok');
      const made = name === 'start' || name === 'fork';
      expect(entry.session === session).toBe(!made);
      expect(entry.subject).toContain(name === 'fork' ? session : '');
      if (name === 'remove') {
        expect(await apis['rest']?.call('status', { session })).toBe('not_found');
        continue;
      }
      const events = await usersEvents(String(entry.session), made ? 0 : after);
      // An editor sends a prompt before it stops the turn.
      effects[api] = name === 'stop' ? events.filter(({ action }) => action === name) : events;
    }
    const [expected, ...others] = Object.values(effects);
    for (const other of others) expect(other).toMatchObject(Object(expected) as object);
    const silent: SessionCommandName[] = ['wake', 'remove'];
    if (changing.includes(name) && !silent.includes(name)) expect(expected).not.toHaveLength(0);
  });

  it.each(changing)('%s is refused with the same code, and recorded so', async (name) => {
    const input = await prepared(name);
    for (const [api, { has, call }] of Object.entries(viewers)) {
      // An editor is not told of a stop or an answer that is refused.
      if (!has(name) || (api === 'acp' && ['stop', 'answer'].includes(name))) continue;
      expect({ api, code: await call(name, input) }).toEqual({ api, code: 'forbidden' });
      // No session of its own is begun for an editor that only watches.
      if (api !== 'acp' || name !== 'start')
        await newestAudit(api, commandAction(name), 'forbidden');
      if (!('session' in input)) continue;
      const unknown = await apis[api]?.call(name, { ...input, session: 'no-such-session' });
      expect({ api, code: unknown }).toEqual({ api, code: 'not_found' });
    }
    // The control: who may is not refused.
    expect(await apis['rest']?.call(name, input)).toBe('ok');
  });

  it('invalid input is the same error', async () => {
    const session = await server.session();
    for (const name of names.filter((each) => commands[each].body)) {
      const { properties = {} } = commands[name].body?.toJSONSchema({ io: 'input' }) ?? {};
      const wrong = Object.fromEntries(Object.keys(properties).map((key) => [key, [[1]]]));
      const input = { ...wrong, session, message: 1, id: 'q' };
      if (name === 'fork') Object.assign(input, { message: 7 });
      for (const [api, { has, call }] of Object.entries(apis)) {
        if (!has(name) || api === 'acp') continue;
        expect({ name, api, code: await call(name, input) }).toEqual({
          name,
          api,
          code: 'invalid_input',
        });
      }
    }
  });

  it('a picture in an editor’s prompt is recorded as an upload, and needs who may operate', async () => {
    const session = await server.session();
    const image = { type: 'image' as const, mimeType: 'image/png', data: 'iVBORw0KGgo=' };
    const prompts = async (token: string) => {
      const editor = await new AcpEditor().connect(server.url, token);
      closing.push(() => editor.close());
      await editor.initialize();
      await editor.load(session);
      const { prompt } = methods.agent.session;
      return editor.agent.request(prompt, { sessionId: session, prompt: [image] });
    };
    await expect(prompts(server.viewerToken)).rejects.toMatchObject({
      data: { code: 'forbidden' },
    });
    await newestAudit('acp', 'uploads.blob', 'forbidden');
    prompts(server.token).catch(ignoreError('the editor is closed'));
    await newestAudit('acp', 'uploads.blob', 'ok');
  });
});
