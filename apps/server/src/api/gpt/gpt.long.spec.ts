import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AppError, gptLimits, gptPageCharacters } from '@belay/protocol';
import { until } from '@belay/testing';
import { SessionServers } from '../../peers/session-servers.js';
import { liveServer } from '../../testing/live-server.js';
import { TestServer } from '../../testing/server.js';

interface Schema {
  servers: { url: string }[];
  paths: Record<
    string,
    Record<
      string,
      {
        operationId: string;
        description: string;
        parameters: { name: string; description: string }[];
        'x-openai-isConsequential': boolean;
      }
    >
  >;
}

describe('the API for custom GPTs', () => {
  const server = new TestServer();
  const conversation = { 'openai-conversation-id': 'c-1' };
  let id: string;
  let answer: (operation: string, input: Record<string, unknown>) => unknown;
  const ran = (more: object = {}) => ({
    text: 'out',
    omittedBytes: 0,
    from: 0,
    to: 3,
    terminal: 'gpt',
    status: 'exited',
    exitCode: 3,
    seconds: 1,
    directory: '/workspace',
    ...more,
  });

  beforeAll(async () => {
    await server.start({ BELAY_PUBLIC_URL: 'https://gpt.example/path' });
    server.sandboxes.answer = (operation, input) => answer(operation, input as never);
    id = await server.session({ approvals: 'auto' });
  });
  afterAll(() => server.close());
  beforeEach(() => (answer = () => ran()));

  const call = async (
    path: string,
    {
      body,
      headers = {},
      method = 'POST',
      token,
    }: { body?: unknown; headers?: Record<string, string>; method?: string; token?: string } = {},
  ) => {
    const response = await server.fetch(path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(token !== undefined && { token }),
    });
    const text = await response.text();
    return {
      status: response.status,
      text,
      json: () => JSON.parse(text) as Record<string, unknown>,
    };
  };
  const schema = async () =>
    (await (await server.fetch('/gpt/openapi.json', { token: '' })).json()) as Schema;

  it('has a valid schema that ChatGPT takes, with the public address', async () => {
    const document = await schema();
    const file = join(server.data, 'gpt.json');
    await writeFile(file, JSON.stringify(document));
    const { stdout } = await promisify(execFile)(process.execPath, [validator, file]);
    expect(JSON.parse(stdout)).toMatchObject({ valid: true });
    expect(document.servers).toEqual([{ url: 'https://gpt.example' }]);
    const routes = Object.values(document.paths).flatMap((path) => Object.values(path));
    expect(routes.length).toBeLessThanOrEqual(gptLimits.operations);
    expect(new Set(routes.map(({ operationId }) => operationId)).size).toBe(routes.length);
    for (const { operationId, description, parameters } of routes) {
      expect(operationId).toMatch(/^\w[\w-]{0,60}$/);
      expect(description.length).toBeLessThanOrEqual(gptLimits.description);
      for (const parameter of parameters)
        expect(parameter.description.length).toBeLessThanOrEqual(gptLimits.parameter);
    }
    for (const [, text = ''] of JSON.stringify(document).matchAll(/"description":"([^"]*)"/g))
      expect(text.length).toBeLessThanOrEqual(gptLimits.parameter);
    const asks = Object.fromEntries(
      routes.map((route) => [route.operationId, route['x-openai-isConsequential']]),
    );
    expect(asks).toMatchObject({ files_read: false, terminal_run: true, files_write: true });
    expect(asks).toMatchObject({ execcmd: true, getFile: false, stop: true, useAgent: false });
  });

  it('has a manifest, which a file and the environment change', async () => {
    const manifest = async () =>
      (await call('/.well-known/ai-plugin.json', { method: 'GET', token: '' })).json();
    expect(await manifest()).toMatchObject({
      schema_version: 'v1',
      name_for_model: 'belay',
      api: { type: 'openapi', url: 'https://gpt.example/gpt/openapi.json' },
      auth: { type: 'user_http', authorization_type: 'bearer' },
      logo_url: 'https://gpt.example/gpt/logo.svg',
    });
    await writeFile(
      join(server.data, 'ai-plugin.json'),
      JSON.stringify({ name_for_human: 'Mine', contact_email: 'me@example.org' }),
    );
    await server.restart({
      BELAY_PUBLIC_URL: 'https://gpt.example',
      BELAY_PLUGIN_NAME_FOR_HUMAN: 'Ours',
    });
    expect(await manifest()).toMatchObject({
      name_for_human: 'Ours',
      contact_email: 'me@example.org',
    });
  });

  it('answers to the name of the public address, and to no other', async () => {
    const status = async (host: string) => {
      const { stdout } = await promisify(execFile)('curl', [
        '-s',
        '-o',
        '/dev/null',
        '-w',
        '%{http_code}',
        '-H',
        `Host: ${host}`,
        `${server.url}/gpt/openapi.json`,
      ]);
      return stdout;
    };
    expect(await status('gpt.example')).toBe('200');
    expect(await status('evil.example')).toBe('403');
  });

  it('binds a conversation to an agent, for its own caller alone', async () => {
    expect((await call(`/api/use_agent/${id}`)).status).toBe(400);
    expect((await call('/api/use_agent/none', { headers: conversation })).status).toBe(400);
    expect((await call('/gpt/session', { method: 'GET', headers: conversation })).status).toBe(400);
    const used = await call(`/api/use_agent/${id}`, { headers: conversation });
    expect(used.json()).toMatchObject({ session: id, state: 'running' });
    const here = { method: 'GET', headers: conversation };
    expect((await call('/gpt/session', here)).json()).toMatchObject({ session: id });
    const other = { ...here, token: server.viewerToken };
    expect((await call('/gpt/session', other)).status).toBe(400);
    expect((await call(`/gpt/session?session=${id}`, other)).status).toBe(200);
    await server.restart({ BELAY_PUBLIC_URL: 'https://gpt.example/path' });
    expect((await call('/gpt/session', here)).json()).toMatchObject({ session: id });
  });

  it('runs commands with their exit code, kills late ones, and refuses what is missing', async () => {
    const path = `/execcmd?session=${id}`;
    const done = await call(`${path}&cmd=make`);
    expect(done).toMatchObject({ status: 200 });
    expect(done.json()).toEqual({ output: 'out', exitCode: 3, directory: '/workspace' });
    answer = () => ran({ status: 'timeout', exitCode: null });
    expect((await call(`${path}&cmd=make`)).status).toBe(408);
    expect((await call(path)).status).toBe(400);
    expect((await call(`${path}&cmd=make`, { token: '' })).status).toBe(401);
    expect((await call(`${path}&cmd=make`, { token: server.viewerToken })).status).toBe(403);
  });

  it('asks the user as the session says, and a refusal is a 403', async () => {
    const asking = await server.session();
    const running = call(`/execcmd?session=${asking}&cmd=make`);
    const question = async () => (await server.log.summary(asking)).waitingFor[0]?.id;
    await until('the question', async () => (await question()) !== undefined);
    const answers = `/api/sessions/${asking}/approvals/${await question()}`;
    await server.json('POST', answers, { verdict: 'rejected', reason: 'Not today' });
    const refused = await running;
    expect(refused.status).toBe(403);
    expect(refused.json()).toMatchObject({ code: 'rejected' });
    expect(server.sandboxes.agents.get(asking)?.calls).toEqual([]);
    const second = call(`/gpt/operations/terminal_run?session=${asking}`, {
      body: { command: 'make' },
    });
    await until('the question', async () => (await question()) !== undefined);
    await server.json('POST', `/api/sessions/${asking}/approvals/${await question()}`, {
      verdict: 'approved',
    });
    expect((await second).json()).toMatchObject({ status: 'done', output: { exitCode: 3 } });
  });

  it('says of a session of another server that it does not reach it', async () => {
    const elsewhere = await server.session();
    const other = jest.spyOn(server.app.get(SessionServers), 'other');
    other.mockResolvedValue(liveServer());
    const refused = await call(`/execcmd?session=${elsewhere}&cmd=make`);
    other.mockRestore();
    expect(refused).toMatchObject({ status: 400 });
    expect(refused.json()).toMatchObject({
      detail: expect.stringContaining('Another server works on this session'),
    });
  });

  it('sends and gets files', async () => {
    const bytes = Buffer.from([1, 2, 3]);
    const written: unknown[] = [];
    answer = (operation, input) => {
      if (operation === 'files.read' && input['path'] === 'none')
        throw new AppError('not_found', 'There is no file none.');
      if (operation === 'files.read') return page(bytes, input);
      written.push(input);
      return { path: 'a.txt', size: 3, lines: 1, created: true, version: null };
    };
    for (const field of ['file', 'document']) {
      const form = new FormData();
      form.append(field, new Blob(['abc']), 'folder/a.txt');
      const sent = await server.fetch(`/send-file?session=${id}`, { method: 'POST', body: form });
      expect(sent.status).toBe(200);
    }
    const content = Buffer.from('abc').toString('base64');
    expect(written).toMatchObject([
      { path: 'a.txt', content },
      { path: 'a.txt', content },
    ]);
    const other = new FormData();
    other.append('other', new Blob(['abc']), 'a.txt');
    const refused = await server.fetch(`/send-file?session=${id}`, { method: 'POST', body: other });
    expect(refused.status).toBe(400);
    expect((await call(`/send-file?session=${id}`, { body: {} })).status).toBe(400);
    const got = await server.fetch(`/get-file?session=${id}&filename=a.txt`);
    expect(Buffer.from(await got.arrayBuffer())).toEqual(bytes);
    const get = async (query: string) =>
      (await call(`/get-file?session=${id}${query}`, { method: 'GET' })).status;
    expect([await get(''), await get('&filename=none')]).toEqual([400, 404]);
  });

  it('gives a large file in parts only', async () => {
    const bytes = Buffer.alloc(gptPageCharacters + 5, 'x');
    answer = (_, input) => page(bytes, input);
    const path = `/get-file?session=${id}&filename=large`;
    expect((await call(path, { method: 'GET' })).status).toBe(413);
    const parts = [];
    for (const from of [0, gptPageCharacters])
      parts.push((await call(`${path}&from=${from}`, { method: 'GET' })).text.length);
    expect(parts).toEqual([gptPageCharacters, 5]);
  });

  it('pages a long result, also after a restart, and answers of others stay theirs', async () => {
    answer = () => ran({ text: 'x'.repeat(2 * gptPageCharacters) });
    const path = `/gpt/operations/terminal_run?session=${id}`;
    const first = (await call(path, { body: { command: 'long' } })).json();
    expect(first).toMatchObject({ status: 'done', next: gptPageCharacters });
    await server.restart({ BELAY_PUBLIC_URL: 'https://gpt.example/path' });
    let text = String(first['text']);
    for (let next = first['next']; typeof next === 'number';) {
      const more = (
        await call(`/gpt/runs/${String(first['run'])}?from=${next}`, { method: 'GET' })
      ).json();
      text += String(more['text']);
      next = more['next'];
    }
    expect(JSON.parse(text)).toMatchObject({ exitCode: 3 });
    const others = `/gpt/runs/${String(first['run'])}`;
    expect((await call(others, { method: 'GET', token: server.viewerToken })).status).toBe(404);
  });

  it('calls the short list alone, with checked input', async () => {
    const status = async (name: string, body: unknown = {}) =>
      (await call(`/gpt/operations/${name}?session=${id}`, { body })).status;
    expect(await status('browser_click')).toBe(404);
    expect(await status('none')).toBe(404);
    expect(await status('terminal_run')).toBe(400);
    expect(await status('terminal_run', { command: 'x' })).toBe(200);
  });

  it('makes machines, follows what happens, writes and stops', async () => {
    server.models.choices = () =>
      Promise.resolve([{ name: 'scripted:x', title: 'x', ready: true, remedy: null }] as never);
    const made = (await call('/gpt/sessions', { body: {}, headers: conversation })).json();
    expect(made).toMatchObject({ state: 'paused' });
    expect((await call('/gpt/sessions', { body: { task: 'Work' } })).status).toBe(409);
    const here = { method: 'GET', headers: conversation };
    const seen = (await call('/gpt/events', here)).json() as { last: number; events: object[] };
    expect(seen.events).toContainEqual(expect.objectContaining({ seq: 3, action: 'pause' }));
    const later = call(`/gpt/events?after=${seen.last + 10}&wait=0.1`, here);
    expect((await later).json()).toMatchObject({ events: [] });
    const there = { headers: conversation };
    expect((await call('/gpt/messages', { ...there, body: { text: 'Go on' } })).status).toBe(200);
    expect((await call('/gpt/stop', there)).json()).toMatchObject({ state: 'stopped' });
  });

  it('says that it takes basic auth, and what is missing in a command', async () => {
    const unknown = await server.fetch('/gpt/sessions', { token: '' });
    expect(unknown.headers.get('www-authenticate')).toBe('Bearer, Basic realm="Belay"');
    const other = await server.fetch('/api/sessions', { token: '' });
    expect(other.headers.get('www-authenticate')).toBe('Bearer');
    const without = await call(`/execcmd?session=${id}`);
    expect(without.status).toBe(400);
    expect(without.json()['detail']).toMatch(/^cmd: /);
  });

  it('has one status for an agent that is lost, whatever the reason', async () => {
    const gone = await server.session({ approvals: 'auto' });
    await server.json('POST', `/api/sessions/${gone}/stop`);
    await until('its agent is gone', () => !server.sandboxes.agents.has(gone));
    server.sandboxes.failure = new AppError('unavailable', 'The machine laptop is not connected.');
    const lost = await call(`/execcmd?session=${gone}&cmd=ls`);
    expect(lost.status).toBe(400);
    expect(lost.json()['detail']).toMatch(/Use another agent, or start a session\.$/);
    expect((await call(`/execcmd?session=none&cmd=ls`)).status).toBe(400);
    // The control: the machine is there again.
    expect((await call(`/execcmd?session=${gone}&cmd=ls`)).status).toBe(200);
  });

  it.each([
    ['plan', 'rejected', 'The user wants a plan first'],
    ['ask', 'forbidden', 'Write to the session first, which resumes it.'],
  ] as const)('in an ended session in the mode %s, says what helps', async (mode, code, help) => {
    const ended = await server.session({ approvals: mode });
    await server.json('POST', `/api/sessions/${ended}/stop`);
    const refused = await call(`/execcmd?session=${ended}&cmd=ls`);
    expect(refused.json()).toMatchObject({ code, detail: expect.stringContaining(help) });
  });

  it('attacks: basic auth opens this API alone, and a cookie nothing of it', async () => {
    const basic = (token: string) => ({
      authorization: `Basic ${Buffer.from(`any:${token}`).toString('base64')}`,
    });
    const status = async (path: string, headers: Record<string, string>) =>
      (await server.fetch(path, { token: '', headers })).status;
    const mine = `/gpt/session?session=${id}`;
    expect(await status(mine, basic(server.token))).toBe(200);
    expect(await status(mine, basic('wrong'))).toBe(401);
    expect(await status('/api/sessions', basic(server.token))).toBe(401);
    expect(await status(`/gpt/../api/sessions`, basic(server.token))).toBe(401);
    const login = await server.fetch(`/?token=${server.token}`, { token: '' });
    const cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const key = new URLSearchParams(login.headers.get('location')?.split('#')[1]).get('key') ?? '';
    const both = { cookie, authorization: `Bearer ${key}` };
    expect(await status(mine, both)).toBe(401);
    // The control: they are a login.
    expect(await status('/api/sessions', both)).toBe(200);
  });
});

const validator = join(
  require.resolve('@seriousme/openapi-schema-validator'),
  '../bin/validate-api-cli.js',
);

function page(file: Buffer, { offset = 0, limit = 1e9 }: Record<string, unknown>) {
  const from = Number(offset);
  const piece = file.subarray(from, from + Number(limit));
  return {
    path: 'a',
    content: piece.toString('base64'),
    from,
    to: from + piece.length,
    lines: 0,
    size: file.length,
    next: null,
    version: null,
  };
}
