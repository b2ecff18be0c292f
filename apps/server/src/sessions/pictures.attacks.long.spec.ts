import { createHash } from 'node:crypto';
import type { MadeToken, SessionSummary } from '@belay/protocol';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StorageCalls } from '../sandboxes/connection/storage-calls.js';
import { TestServer } from '../testing/server.js';

const secret = 'a picture of one user alone';
const context = { signal: new AbortController().signal };
const unknown = {
  status: 404,
  detail: 'There is no such picture. Upload it first: POST /api/blobs',
};

describe('attacks: a picture of which only the hash is known', () => {
  const server = new TestServer();
  let victim: string;
  let thief: string;
  /** Of the thief. */
  let own: string;
  let theirs: string;
  const blob = createHash('sha256').update(secret).digest('hex');

  beforeAll(async () => {
    await server.start();
    const make = async (label: string) => {
      const wanted = { label, scope: 'operate', sessions: 'own' };
      return (await server.json<MadeToken>('POST', '/api/tokens', wanted)).token;
    };
    [victim, thief] = [await make('victim'), await make('thief')];
    expect(await upload(victim, secret)).toBe(blob);
    theirs = (await start(victim, { images: [blob] })).id;
    own = (await start(thief)).id;
    await server.reaches(own, 'running');
  });
  afterAll(() => server.close());

  const send = async (token: string, path: string, body: object) => {
    const answer = await server.fetch(path, {
      method: 'POST',
      token,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    const text = await answer.text();
    return { status: answer.status, ...(JSON.parse(text || '{}') as { detail?: string }) };
  };
  const start = (token: string, more: object = {}) =>
    send(token, '/api/sessions', { task: 'x', model: 'scripted:x', ...more }) as Promise<
      SessionSummary & { status: number }
    >;
  const upload = async (token: string, bytes: string): Promise<string> => {
    const headers = { 'content-type': 'image/png', 'content-length': `${bytes.length}` };
    const answer = await server.fetch('/api/blobs', {
      method: 'POST',
      token,
      body: bytes,
      headers,
    });
    return ((await answer.json()) as { blob: string }).blob;
  };
  const read = async (token: string, session: string, id = blob) => {
    const answer = await server.fetch(`/api/sessions/${session}/blobs/${id}`, { token });
    return { status: answer.status, text: await answer.text() };
  };
  /** By the MCP server. */
  const callTool = async (token: string, name: string, input: Record<string, unknown>) => {
    const client = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', server.url), {
      requestInit,
    });
    await client.connect(transport as Parameters<Client['connect']>[0]);
    const result = await client.callTool({ name, arguments: input });
    await client.close();
    return result;
  };
  const isSafe = async () => expect((await read(thief, own)).status).toBe(404);

  it('is read by who uploaded it, in sessions of its own and in their forks', async () => {
    expect(await read(victim, theirs)).toEqual({ status: 200, text: secret });
    await server.reaches(theirs, 'running');
    const shown = { operation: 'browser.screenshot', ok: true, seconds: 0 };
    const storage = server.app.get(StorageCalls).handlers(() => Promise.resolve(theirs));
    const { blob: shot } = await storage['blobs.put'](
      {
        type: 'image/png',
        bytes: Buffer.from('shot') as never,
      },
      context,
    );
    const args = { ...shown, output: { image: shot } };
    await server.sandboxes.says(server.log, theirs, { action: 'result', args, id: 'c' });
    const seq = await server.log.lastSeq(theirs);
    const message = { text: 'Look again', images: [blob] };
    const fork = await send(victim, `/api/sessions/${theirs}/fork`, { seq, message });
    const { id } = fork as unknown as SessionSummary;
    expect((await read(victim, id)).text).toBe(secret);
    expect((await read(victim, id, shot)).text).toBe('shot');
  });

  it('is not attached to a session, a message or a fork', async () => {
    const message = { text: 'Look', images: [blob] };
    expect(await start(thief, { images: [blob] })).toMatchObject(unknown);
    expect(await send(thief, `/api/sessions/${own}/messages`, message)).toMatchObject(unknown);
    const fork = { seq: 1, message };
    expect(await send(thief, `/api/sessions/${own}/fork`, fork)).toMatchObject(unknown);
    const sent = await callTool(thief, 'session_message', { session: own, ...message });
    expect(sent).toMatchObject({ isError: true });
    expect(JSON.stringify(sent)).toContain(unknown.detail);
    await isSafe();
  });

  it('is not bound by its name in a text, nor by what an agent says', async () => {
    await send(thief, `/api/sessions/${own}/messages`, { text: blob });
    await server.sandboxes.says(server.log, own, {
      action: 'result',
      args: { operation: 'browser.screenshot', ok: true, output: { image: blob }, seconds: 0 },
      id: 'c',
    });
    await isSafe();
    const seq = await server.log.lastSeq(own);
    const fork = await send(thief, `/api/sessions/${own}/fork`, { seq });
    const { id } = fork as unknown as SessionSummary;
    expect((await read(thief, id)).status).toBe(404);
  });

  it('is not given to another session’s agent, nor shown for it by the MCP server', async () => {
    const of = (session: string) =>
      server.app.get(StorageCalls).handlers(() => Promise.resolve(session))['blobs.get'];
    await expect(of(own)({ blob }, context)).rejects.toMatchObject({ code: 'not_found' });
    expect(Buffer.from((await of(theirs)({ blob }, context)).bytes).toString()).toBe(secret);
    server.sandboxes.answer = () => ({ url: 'x', image: blob, width: 1, height: 1 });
    const shown = async (token: string, session: string) =>
      JSON.stringify(await callTool(token, 'browser_screenshot', { session }));
    const encoded = Buffer.from(secret).toString('base64');
    expect(await shown(thief, own)).not.toContain(encoded);
    expect(await shown(victim, theirs)).toContain(encoded);
  });

  it('is attached by who has the bytes itself', async () => {
    expect(await upload(thief, secret)).toBe(blob);
    expect(await start(thief, { images: [blob] })).toMatchObject({ status: 201 });
  });
});
