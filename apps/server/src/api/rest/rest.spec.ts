import { TestServer } from '../../testing/server.js';

/** What programs find here besides the routes’ own work: how they wait, resume, page and repeat. */
describe('REST for programs', () => {
  const server = new TestServer();
  let id: string;
  const file = Buffer.from(Array.from({ length: 400_000 }, (_, at) => at % 251));
  const version = '0123456789abcdef';
  let written: Record<string, unknown>[] = [];

  beforeAll(async () => {
    await server.start();
    server.sandboxes.answer = (operation, input) => {
      const { offset = 0, limit = 0, ...rest } = input as { offset?: number; limit?: number };
      if (operation === 'workspace.log') return { steps: [] };
      if (operation === 'files.write') {
        written.push(rest);
        return { path: 'a', size: 3, lines: 1, created: true, version };
      }
      const piece = file.subarray(offset, offset + limit);
      const to = offset + piece.length;
      return {
        path: 'a',
        content: piece.toString('base64'),
        from: offset,
        to,
        lines: 0,
        size: file.length,
        next: to < file.length ? to : null,
        version: offset === 0 ? version : null,
      };
    };
    id = await server.session();
  });
  afterAll(() => server.close());
  beforeEach(() => (written = []));

  const says = (action: string) =>
    server.sandboxes.says(server.log, id, {
      action: 'think',
      args: { thought: action },
      id: action,
    });
  const events = `/api/sessions/x/events`;
  const path = (more: string) => events.replace('x', id) + more;

  it('an event is waited for, and none after the time', async () => {
    const after = await server.log.lastSeq(id);
    const waiting = server.fetch(path(`?after=${after}&wait=20`));
    await says('first');
    const found = await waiting;
    expect(await found.json()).toMatchObject([{ seq: after + 1, action: 'think' }]);
    expect(found.headers.get('link')).toBe(
      `</api/sessions/${id}/events?after=${after + 1}&wait=20>; rel="next"`,
    );
    const none = await server.fetch(path(`?after=${after + 1}&wait=0.1`));
    expect(await none.json()).toEqual([]);
    expect((await server.fetch(path('?wait=61'))).status).toBe(400);
  });

  it('a stream sends the log and what comes, and resumes after the last one', async () => {
    const lastSeq = await server.log.lastSeq(id);
    const gone = new AbortController();
    const stream = await server.fetch(path('/stream'), {
      headers: { 'last-event-id': String(lastSeq - 1) },
      signal: gone.signal,
    });
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    await says('second');
    let text = '';
    for await (const chunk of stream.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes(`id: ${lastSeq + 1}`)) break;
    }
    gone.abort();
    const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq));
    expect(ids).toEqual([lastSeq, lastSeq + 1]);
    const [, data = ''] = /^data: (.*)$/m.exec(text) ?? [];
    expect(JSON.parse(data)).toMatchObject({ seq: lastSeq });
  });

  it('a file comes whole or in one range, and is refused outside of it', async () => {
    const get = (headers: Record<string, string> = {}) =>
      server.fetch(`/api/sessions/${id}/file?path=a`, { headers });
    const whole = await get();
    expect(whole.headers.get('etag')).toBe(`"${version}"`);
    expect(Buffer.from(await whole.arrayBuffer()).equals(file)).toBe(true);
    const part = await get({ range: 'bytes=149999-150001' });
    expect([part.status, part.headers.get('content-range')]).toEqual([
      206,
      `bytes 149999-150001/${file.length}`,
    ]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(file.subarray(149_999, 150_002));
    const last = await get({ range: 'bytes=-1', 'if-range': `"${version}"` });
    expect(Buffer.from(await last.arrayBuffer())).toEqual(file.subarray(-1));
    expect((await get({ range: 'bytes=0-1', 'if-range': '"another"' })).status).toBe(200);
    const beyond = await get({ range: `bytes=${file.length}-` });
    expect(beyond.status).toBe(416);
    expect(await beyond.json()).toMatchObject({ status: 416, code: 'invalid_input' });
  });

  it('a file is written as it is, and only over the version that was named', async () => {
    const put = (headers: Record<string, string>, token = server.token) =>
      server.fetch(`/api/sessions/${id}/file?path=a`, {
        method: 'PUT',
        body: 'abc',
        headers,
        token,
      });
    expect(await (await put({})).json()).toMatchObject({ created: true, version });
    await put({ 'if-match': `"${version}"` });
    await put({ 'if-none-match': '*' });
    expect(written).toMatchObject([
      { content: Buffer.from('abc').toString('base64'), overwrite: true },
      { version, overwrite: false },
      { version: null, overwrite: false },
    ]);
    expect((await put({ 'if-match': 'W/"x"' })).status).toBe(400);
    expect((await put({}, server.viewerToken)).status).toBe(403);
    expect(written).toHaveLength(3);
  });

  it('a message of the user is in the log when it is answered, or refused', async () => {
    const session = await server.session();
    const send = (text: string) =>
      server.json('POST', `/api/sessions/${session}/messages`, { text });
    expect(await send('Use Python.')).toEqual({ status: 204 });
    const [last] = (await server.log.read(session, { after: 0 })).slice(-1);
    expect(last).toMatchObject({
      action: 'message',
      source: 'user',
      args: { text: 'Use Python.' },
    });
    expect(await send('')).toMatchObject({ code: 'invalid_input' });
  });

  it('a session is made once for one key', async () => {
    const make = (task: string) =>
      server.fetch('/api/sessions', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'once' },
        body: JSON.stringify({ task, model: 'scripted:x' }),
      });
    const [one, same] = await Promise.all([make('Fix'), make('Fix')]);
    expect([one.status, same.status]).toEqual([201, 201]);
    expect(await same.json()).toEqual(await one.json());
    expect(same.headers.get('idempotency-replayed')).toBe('true');
    const other = await make('Another');
    expect(other.status).toBe(409);
    expect(await other.json()).toMatchObject({ code: 'conflict' });
  });

  it('lists come in pages, each with the address of the next', async () => {
    for (let more = 0; more < 3; more++) await server.session();
    const seen: string[] = [];
    for (let next: string | undefined = '/api/sessions?limit=2'; next;) {
      const page = await server.fetch(next);
      const sessions = (await page.json()) as { id: string }[];
      expect(sessions.length).toBeLessThanOrEqual(2);
      seen.push(...sessions.map((session) => session.id));
      next = /^<(.*)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
    }
    const all = (await (await server.fetch('/api/sessions')).json()) as { id: string }[];
    expect(seen).toEqual(all.map((session) => session.id));
    expect(seen.length).toBeGreaterThan(3);
  });

  it('operations are listed with schemas, and as tools in the form of each provider', async () => {
    const list = (await (await server.fetch('/api/operations')).json()) as { name: string }[];
    expect(list).toContainEqual(
      expect.objectContaining({
        name: 'files.read',
        tool: 'files_read',
        risk: 'read',
        viewer: true,
      }),
    );
    const tools = async (format: string, token = server.token) =>
      (await (
        await server.fetch(`/api/operations/tools?format=${format}`, { token })
      ).json()) as object[];
    const named = { name: 'terminal_run', description: expect.any(String) as string };
    expect(await tools('openai')).toContainEqual({
      type: 'function',
      function: expect.objectContaining(named) as object,
    });
    expect(await tools('openai-responses')).toContainEqual(
      expect.objectContaining({ type: 'function', ...named }),
    );
    expect(await tools('anthropic')).toContainEqual(
      expect.objectContaining({ ...named, input_schema: expect.any(Object) as object }),
    );
    expect(JSON.stringify(await tools('openai', server.viewerToken))).not.toContain('terminal_run');
    const called = await server.json('POST', `/api/sessions/${id}/operations/files_read`, {
      path: 'a',
    });
    expect(called).toMatchObject({ status: 200, size: file.length });
  });

  it('usage is counted, of a session and of all', async () => {
    const usage = await server.json('GET', `/api/sessions/${id}/usage`);
    expect(usage).toMatchObject({ status: 200, model: 'scripted:x', tokens: 0 });
    expect(usage).not.toHaveProperty('task');
    expect(await server.json('GET', '/api/usage')).toMatchObject({
      models: [{ model: 'scripted:x' }],
    });
  });

  it('the reference is a page of the site, and needs the same login', async () => {
    const page = await server.fetch('/docs');
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    const scripts = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)];
    expect(scripts).toHaveLength(3);
    for (const [, part = ''] of scripts) {
      expect((await server.fetch(part)).status).toBe(200);
      expect((await server.fetch(part, { token: '' })).status).toBe(401);
    }
  });
});
