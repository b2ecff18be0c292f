import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { methods } from '@agentclientprotocol/sdk';
import {
  allRoutes,
  sessionCommands,
  viewerRequests,
  type MachineDescription,
  type SessionCommand,
} from '@belay/protocol';
import { sampled, until } from '@belay/testing';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import { ownerCaller } from '../access/caller.js';
import { TokensStore } from '../access/tokens.store.js';
import { MachineStore } from '../sandboxes/machines/machine.store.js';
import { Machines } from '../sandboxes/machines/machines.js';
import { AcpEditor } from '../testing/acp-editor.js';
import { TestServer } from '../testing/server.js';

/** What a request came to: `ok`, or the code and the sentence of the error. */
interface Outcome {
  code: string;
  detail: string;
}
type Fields = Record<string, unknown>;
/** Sends a request with these fields and the token. */
type Send = (token: string, fields: Fields) => Promise<Outcome>;

/** Fields whose values could name something of the host. */
const hostFields = ['model', 'models', 'machine', 'mounts', 'image', 'base_image'];

describe('attacks: names of the host', () => {
  const server = new TestServer({ realModels: true });
  const closing: (() => unknown)[] = [];
  let folder: string;
  let own: string;
  let all: string;
  let oauth: string;
  let session: string;
  const path = (name: string) => join(folder, name);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-host-names-'));
    const example = path('examples/sessions/greet');
    await mkdir(example, { recursive: true });
    const script = 'pace: 0\nturns:\n  - finish: Greeted\n';
    await writeFile(join(example, 'script.yaml'), script);
    await writeFile(path('script.yaml'), script);
    await writeFile(path('secret.cnf'), 'key = *topsecretalias\n');
    execFileSync('mkfifo', [path('pipe')]);
    await server.start({
      BELAY_EXAMPLES: path('examples'),
      BELAY_REQUESTS_PER_SECOND: '0',
      BELAY_MAX_SANDBOXES: '500',
    });
    const tokens = server.app.get(TokensStore);
    const wanted = { label: 'test', scope: 'operate', expires: null } as const;
    own = (await tokens.create({ ...wanted, sessions: 'own' }, ownerCaller)).token;
    all = (await tokens.create({ ...wanted, sessions: 'all' }, ownerCaller)).token;
    const grant = { client: 'chat', refreshMs: 60_000, maker: 'owner' };
    oauth = (await tokens.createRefreshable({ ...wanted, sessions: 'all' }, grant)).token;
    session = await server.session({ model: 'scripted:example:greet' });
    const machines = server.app.get(Machines);
    const about = (kind: MachineDescription['kind']) => ({ host: 'h', os: 'o', arch: 'x64', kind });
    for (const kind of ['bare', 'container'] as const) {
      const { token } = await machines.invite(kind);
      await machines.join(token, about(kind));
    }
    // Nothing runs on them: they only have to be connected.
    const connected = machines.connectedNamed.bind(machines);
    jest.spyOn(machines, 'connectedNamed').mockImplementation((name) => {
      const known = server.app.get(MachineStore).named(name);
      return known ?? connected(name);
    });
  });
  afterAll(async () => {
    await Promise.all(closing.map((close) => close()));
    await server.close();
    await rm(folder, { recursive: true });
  });

  const usual = { task: 'Paint', model: 'scripted:example:greet' };
  const http =
    (method: string, at: () => string, usual: Fields): Send =>
    async (token, fields) => {
      const answer = await server.fetch(at(), {
        method,
        token,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...usual, ...fields }),
      });
      const { code, detail } = (await answer.json()) as Outcome;
      return answer.ok ? { code: 'ok', detail: '' } : { code, detail };
    };

  const mcp: Send = async (token, fields) => {
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', server.url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    });
    await client.connect(transport as Parameters<Client['connect']>[0]);
    closing.push(() => client.close());
    const input = { ...usual, ...fields };
    const answer = await client.callTool({ name: 'session_start', arguments: input });
    const { code, detail } = Object(answer._meta?.['belay/problem']) as Outcome;
    return answer.isError ? { code, detail } : { code: 'ok', detail: '' };
  };

  const socket: Send = async (token, fields) => {
    const headers = { authorization: `Bearer ${token}` };
    const opened = new WebSocket(`${server.url.replace('http', 'ws')}/ws`, { headers } as never);
    closing.push(() => opened.close());
    const answered = new Promise<{ action: string; args: Outcome; message: string }>((resolve) => {
      opened.onmessage = ({ data }) => {
        const reply = JSON.parse(String(data)) as Awaited<typeof answered> & { id?: number };
        if (reply.id === 1) resolve(reply);
      };
    });
    const args = { ...usual, ...fields };
    opened.onopen = () => opened.send(JSON.stringify({ action: 'start', args, id: 1 }));
    const { action, args: result, message } = await answered;
    return action === 'error' ? { code: result.code, detail: message } : { code: 'ok', detail: '' };
  };

  const acp: Send = async (token, { model }) => {
    const editor = await new AcpEditor().connect(server.url, token);
    closing.push(() => editor.close());
    await editor.initialize();
    const { sessionId } = await editor.begin(model);
    const prompt = [{ type: 'text' as const, text: 'Paint' }];
    let isOver = false;
    const asked = editor.agent
      .request(methods.agent.session.prompt, { sessionId, prompt })
      .then(
        () => ({ code: 'ok', detail: '' }),
        ({ message, data }: { message: string; data?: { code?: string } }) => ({
          code: data?.code ?? message,
          detail: message,
        }),
      )
      .finally(() => (isOver = true));
    const begun = until(
      'it has begun',
      async () => isOver || (await server.log.summaries()).some(({ id }) => id === sessionId),
    ).then(() => ({ code: 'ok', detail: '' }));
    return Promise.race([asked, begun]);
  };

  const post = (at: string, more: Fields) => http('POST', () => at, more);
  const sessions = post('/api/sessions', usual);
  const transcript = JSON.stringify({
    type: 'assistant',
    uuid: '1',
    message: { content: 'Painted' },
  });
  const imported = post('/api/sessions/import', {
    model: usual.model,
    agent: { name: 'belay' },
    transcript,
  });
  const comparisons = post('/api/comparisons', {
    task: 'Paint',
    models: [usual.model],
    runs: 2,
  });
  const models: Send = (token, { model }) => comparisons(token, { models: [model] });
  const agents: Send = (token, { model }) =>
    comparisons(token, { models: undefined, agents: [{ name: 'belay', model }] });
  const change = http('PATCH', () => `/api/sessions/${session}`, {});
  const fork = http('POST', () => `/api/sessions/${session}/fork`, { seq: 1 });
  const start = { rest: sessions, socket, acp };
  const ofModels = { mcp, gpt: post('/gpt/sessions', { task: 'Paint' }) };

  /** Every request that has such a field and needs no admin, and the APIs that take it; none where it is only shown. */
  const requests: Record<string, Record<string, Send>> = {
    'POST /api/sessions model': { rest: sessions },
    'POST /api/sessions machine': { rest: sessions },
    'POST /api/sessions mounts': { rest: sessions },
    'POST /api/sessions image': { rest: sessions },
    'POST /api/sessions/import model': { rest: imported },
    'POST /api/sessions/import machine': { rest: imported },
    'POST /api/sessions/import mounts': { rest: imported },
    'POST /api/sessions/import image': { rest: imported },
    'POST /api/comparisons image': { rest: comparisons },
    'POST /api/comparisons models': { rest: models },
    'POST /api/comparisons model': { rest: agents },
    'POST /api/comparisons machine': { rest: comparisons },
    'POST /api/comparisons mounts': { rest: comparisons },
    'PATCH /api/sessions/:id model': { rest: change },
    'POST /api/sessions/:id/fork model': { rest: fork },
    'POST /api/models/trial model': { rest: post('/api/models/trial', {}) },
    // Only its maker sees a template, and a session that it starts is checked.
    'PUT /api/templates/:name model': {},
    'PUT /api/evaluations/:id model': {},
    'POST /gpt/sessions model': { gpt: ofModels.gpt },
    'command start model': { ...start, mcp },
    'command start machine': { rest: sessions, socket, mcp },
    'command start mounts': { rest: sessions, socket, mcp },
    'command start image': { rest: sessions, socket, mcp },
    'command change model': { rest: change },
    'command fork model': { rest: fork },
  };

  const kinds: Record<string, () => { fields: Fields; refusal: RegExp; code?: string }[]> = {
    model: () =>
      [
        `scripted:${path('script.yaml')}`,
        `scripted:${path('secret.cnf')}`,
        `scripted:${path('none')}`,
        `scripted:${folder}`,
        `scripted:${path('pipe')}`,
        'scripted:/dev/ptmx',
        'scripted:/dev/zero',
        'scripted:script.yaml',
        `cassette:${path('script.yaml')}`,
        `cassette:${path('new/file')}?record=scripted:example:greet`,
        `cassette:${path('script.yaml')}?record=scripted:example:greet`,
        'cassette:/dev/ptmx?record=scripted:example:greet',
      ].map((model) => ({ fields: { model }, refusal: /name a file of the server’s machine/ })),
    machine: () => [{ fields: { machine: 'bare' }, refusal: /on a bare machine/ }],
    mounts: () => [
      { fields: { mounts: [{ folder: path('examples') }] }, refusal: /share folders of the host/ },
    ],
    // Registries are refused where images are pulled, before the engine is asked.
    image: () =>
      ['localhost:5000/$(id)', '--privileged', 'a b', 'http://127.0.0.1/a', '../a'].map(
        (image) => ({
          fields: { image },
          refusal: /not the name of an image/,
          code: 'invalid_input',
        }),
      ),
  };
  const kindOf = (request: string) =>
    request.endsWith('models') ? 'model' : request.split(' ').at(-1)!;
  const isOfSession = (request: string) => /:id|change|fork/.test(request);
  const ways = Object.entries(requests).flatMap(([request, apis]) =>
    Object.entries(apis).map(([api, send]) => ({ request, api, send, kind: kindOf(request) })),
  );

  /** One of each kind and one of each API stand for the others. */
  const few = ways.filter(
    ({ kind, api }, at) =>
      ways.findIndex((way) => way.kind === kind) === at ||
      ways.findLastIndex((way) => way.api === api) === at,
  );
  const fewFirst = [...few, ...ways.filter((way) => !few.includes(way))];

  it('has every request with such a field in its table', () => {
    const found: string[] = [];
    for (const { method, path: at, body, query, access } of allRoutes)
      if (access !== 'admin')
        for (const field of [...fieldsOf(body), ...fieldsOf(query)])
          found.push(`${method} ${at} ${field}`);
    for (const [name, { input }] of Object.entries<SessionCommand>(sessionCommands))
      for (const field of fieldsOf(input)) found.push(`command ${name} ${field}`);
    for (const [name, { input }] of Object.entries(viewerRequests))
      for (const field of fieldsOf(input)) found.push(`dashboard ${name} ${field}`);
    expect(found.toSorted()).toEqual(Object.keys(requests).toSorted());
  });

  it.each(sampled(few.length, fewFirst))(
    '$request is closed by $api to tokens that are not an admin’s',
    async (way) => {
      const before = await contents(folder);
      for (const { fields, refusal, code = 'forbidden' } of kinds[way.kind]!()) {
        for (const token of isOfSession(way.request) ? [all, oauth] : [own, all, oauth]) {
          const outcome = await way.send(token, fields);
          const wanted = { code, detail: expect.stringMatching(refusal) };
          expect({ ...fields, ...outcome }).toEqual({ ...fields, ...wanted });
        }
      }
      expect(await contents(folder)).toEqual(before);
      // The control: the same request with a name that is the caller’s to give.
      const honest = { model: usual.model, machine: 'container', mounts: [], image: 'node:24' };
      const value = honest[way.kind as keyof typeof honest];
      expect(await way.send(all, { [way.kind]: value })).toMatchObject({ code: 'ok' });
    },
  );

  const ofHost = sampled(few.length, fewFirst).filter(({ kind }) => kind !== 'image');
  const open = ofHost.filter(({ api }) => !(api in ofModels));
  it.each(open)('$request is open by $api to an admin', async ({ send, kind }) => {
    const [{ fields } = { fields: {} }] = kinds[kind]!();
    expect(await send(server.token, fields)).toMatchObject({ code: 'ok' });
  });

  it.each(ofHost.filter(({ api }) => api in ofModels))(
    '$request is closed by $api to an admin too, because a model fills it in',
    async ({ send, kind }) => {
      for (const { fields } of kinds[kind]!()) {
        const refusal = expect.stringMatching(/^Requests over MCP and those of GPTs may not /);
        expect(await send(server.token, fields)).toMatchObject({
          code: 'forbidden',
          detail: refusal,
        });
      }
      expect(await send(server.token, { model: usual.model })).toMatchObject({ code: 'ok' });
    },
  );

  it('an admin’s trial reads and records regular files alone, and never waits', async () => {
    const trial = post('/api/models/trial', {});
    const by = (model: string) => trial(server.token, { model });
    const refused = {
      code: 'invalid_input',
      detail: expect.stringContaining('not a regular file'),
    };
    for (const name of [path('pipe'), '/dev/ptmx', '/dev/zero', folder])
      expect(await by(`scripted:${name}`)).toMatchObject({ code: 'invalid_input' });
    expect(await by('scripted:/dev/zero')).toEqual(refused);
    const record = (name: string) => by(`cassette:${name}?record=scripted:example:greet`);
    expect(await record(path('pipe'))).toMatchObject({ code: expect.not.stringMatching('ok') });
    expect(await record(path('script.yaml'))).toMatchObject({
      code: 'invalid_input',
      detail: expect.stringContaining('is not a cassette'),
    });
    expect(await record(path('new/cassette'))).toMatchObject({ code: 'ok' });
    expect(await readFile(path('new/cassette'), 'utf8')).toMatch(/^{"cassette":1}\n/);
    expect(await by(`cassette:${path('new/cassette')}`)).toMatchObject({ code: 'ok' });
    const malformed = await by(`scripted:${path('secret.cnf')}`);
    expect(malformed.detail).toContain('malformed at line 1');
    expect(malformed.detail).not.toContain('topsecretalias');
  });

  it('a session with a file of the host is not forked without the right to name it', async () => {
    const model = `scripted:${path('script.yaml')}`;
    const made = await server.session({ model });
    const forked = http('POST', () => `/api/sessions/${made}/fork`, { seq: 1 });
    expect(await forked(all, {})).toMatchObject({ code: 'forbidden' });
    expect(await forked(all, { model: usual.model })).toMatchObject({ code: 'ok' });
    expect(await forked(server.token, {})).toMatchObject({ code: 'ok' });
  });
});

/** All files below a folder with their content; those of pipes cannot be read. */
async function contents(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.map(async (entry) => {
    const at = join(entry.parentPath, entry.name);
    return [at, entry.isFile() ? await readFile(at, 'utf8') : ''] as const;
  });
  return Object.fromEntries(await Promise.all(files));
}

/** The host’s fields anywhere in the input of a schema. */
function fieldsOf(schema: unknown): string[] {
  if (!(schema instanceof z.ZodType)) return [];
  const json: unknown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const names = new Set<string>();
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === 'properties') for (const name of Object.keys(Object(value))) names.add(name);
      walk(value);
    }
  };
  walk(json);
  return [...names].filter((name) => hostFields.includes(name));
}
