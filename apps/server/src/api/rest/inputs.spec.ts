import { TestServer } from '../../testing/server.js';

/** What REST does with inputs that are odd or wrong, each beside one that is right. */
describe('an input over REST', () => {
  const server = new TestServer();
  let id: string;
  beforeAll(async () => {
    await server.start();
    server.sandboxes.answer = () => ({ steps: [] });
    id = await server.session();
  });
  afterAll(() => server.close());

  const detailOf = async (response: Response) => ({
    status: response.status,
    detail: ((await response.json()) as { detail?: string }).detail,
  });
  const inSession = (path: string) => `/api/sessions/${id}/${path}`;

  it('may have fractions of seconds', async () => {
    const after = await server.log.lastSeq(id);
    for (const wait of ['0.0274312', '1e-9', '0.05000001']) {
      const events = await server.fetch(inSession(`events?after=${after}&wait=${wait}`));
      expect([events.status, await events.json()]).toEqual([200, []]);
    }
  });

  it.each([
    ['PUT', 'file', 'path: '],
    ['PUT', 'file?path=a&executable=', 'executable: '],
    ['PUT', 'file?path=a&executable=perhaps', 'executable: '],
    ['DELETE', 'messages/abc', 'message: '],
    ['PUT', 'workspace?bytes=abc', 'bytes: '],
  ])('is named when it is wrong: %s %s', async (method, path, field) => {
    const body = method === 'PUT' ? { body: 'abc' } : {};
    const headers = { 'content-type': 'application/octet-stream' };
    const sent = await server.fetch(inSession(path), { method, headers, ...body });
    const { status, detail } = await detailOf(sent);
    expect(status).toBe(400);
    expect(detail).toContain(field);
    expect(detail).not.toContain('JSON');
  });

  it('has to be JSON where a route takes JSON', async () => {
    const headers = { 'content-type': 'text/plain' };
    const sent = await server.fetch(inSession('messages'), { method: 'POST', body: 'x', headers });
    expect(await detailOf(sent)).toEqual({
      status: 400,
      detail: 'Send the input as JSON, with the content-type application/json.',
    });
    expect(await server.json('POST', inSession('messages'), { text: 'x' })).toEqual({
      status: 204,
    });
  });

  it('of an operation is an object or left out, and not null', async () => {
    const call = async (body: string | undefined) => {
      const headers = { 'content-type': 'application/json' };
      const sent = { method: 'POST', ...(body !== undefined && { body, headers }) };
      return (await server.fetch(inSession('operations/workspace.log'), sent)).status;
    };
    expect([await call('null'), await call('[]')]).toEqual([400, 400]);
    expect([await call('{}'), await call(undefined)]).toEqual([200, 200]);
  });

  it('is not an empty upload', async () => {
    const upload = (body: string) => server.fetch('/api/blobs', { method: 'POST', body });
    expect(await detailOf(await upload(''))).toEqual({
      status: 400,
      detail: 'The upload is empty. Send the bytes of a file.',
    });
    expect((await upload('x')).status).toBe(201);
  });

  it('names only pictures that exist', async () => {
    const start = (blob: string) =>
      server.json('POST', '/api/sessions', { task: 'x', model: 'scripted:x', images: [blob] });
    expect(await start('0'.repeat(64))).toMatchObject({ status: 404, code: 'not_found' });
    const uploaded = await server.fetch('/api/blobs', { method: 'POST', body: 'x' });
    const { blob } = (await uploaded.json()) as { blob: string };
    expect(await start(blob)).toMatchObject({ status: 201 });
  });

  it.each([
    ['DELETE', '/api/sessions', 'GET, HEAD, POST'],
    ['PUT', '/api/sessions/x', 'GET, HEAD, PATCH, DELETE'],
    ['GET', '/api/sessions/x/operations/files.read', 'POST'],
    ['POST', '/health', 'GET, HEAD'],
    ['OPTIONS', '/api/models', 'GET, HEAD'],
    ['PATCH', '/execcmd', 'POST'],
    ['OPTIONS', '/api/machines/join', 'POST'],
    ['OPTIONS', '/api/machines/other', 'PATCH, DELETE'],
  ])('with a method that its path does not take gets a 405: %s %s', async (method, path, allow) => {
    const sent = await server.fetch(path, { method });
    expect([sent.status, sent.headers.get('allow')]).toEqual([405, allow]);
    expect(await sent.json()).toMatchObject({
      code: 'method_not_allowed',
      detail: `${path} does not take ${method}. Use ${allow}.`,
    });
  });

  it('has an address and headers of at most 16 KiB', async () => {
    const list = (more: string) => server.fetch(`/api/sessions?limit=1&x=${more}`);
    const refused = await list('x'.repeat(20_000));
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({ code: 'too_large' });
    expect((await list('')).status).toBe(200);
  });

  it('for a path that does not exist gets a 404 without Allow', async () => {
    const sent = await server.fetch('/api/nothing', { method: 'PUT' });
    expect([sent.status, sent.headers.get('allow')]).toEqual([404, null]);
  });

  it('streams no block without data, which some clients take for an event', async () => {
    const gone = new AbortController();
    const stream = await server.fetch(inSession('events/stream'), { signal: gone.signal });
    let text = '';
    for await (const chunk of stream.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes('\n\n')) break;
    }
    gone.abort();
    expect(text).toMatch(/^retry: 1000\nid: 1\ndata: \{.*"seq":1/);
  });
});
