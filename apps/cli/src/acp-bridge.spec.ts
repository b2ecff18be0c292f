import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { BelayClient } from '@belay/client';
import { until } from '@belay/testing';
import { WebSocketServer, type WebSocket } from 'ws';
import { AcpBridge } from './acp-bridge.js';
import { EditorFolders } from './editor-folders.js';

interface Message {
  id?: number | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number };
}

interface Said {
  update: { content: { text: string } };
}

describe('belay acp between an editor and a server', () => {
  let root: string;
  let folder: string;
  let server: Server;
  let socket: WebSocket;
  let editor: PassThrough;
  let running: Promise<void>;
  /** What the server and the editor have received. */
  let asked: Message[];
  let shown: Message[];
  let upload: (request: IncomingMessage, response: ServerResponse) => void;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'belay-acp-'));
    folder = await mkdtemp(join(tmpdir(), 'belay-editor-'));
    await writeFile(join(folder, 'a.txt'), 'one\n');
    [asked, shown] = [[], []];
    upload = storedAs('w');
    server = createServer((request, response) => upload(request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const connected = once(new WebSocketServer({ server }), 'connection');
    editor = new PassThrough();
    const client = {
      sessions: {
        wake: () => Promise.resolve(),
        call: () => Promise.resolve({ steps: [{ commit: 'c1' }] }),
        export: () => Promise.resolve(patch),
      },
    } as unknown as BelayClient;
    const bridge = new AcpBridge({
      address: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 't' },
      folders: new EditorFolders(client, join(root, 'acp')),
      model: 'scripted:x',
      apply: true,
      write: (line) => void shown.push(JSON.parse(line) as Message),
    });
    running = bridge.run(editor);
    [socket] = (await connected) as [WebSocket];
    socket.on('message', (data: Buffer) => asked.push(JSON.parse(data.toString()) as Message));
  });
  afterEach(async () => {
    editor.end();
    await running;
    server.closeAllConnections();
    server.close();
    for (const one of [root, folder]) await rm(one, { recursive: true });
  });

  const patch = Buffer.from(
    'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n',
  );
  const storedAs = (workspace: string) => (request: IncomingMessage, response: ServerResponse) =>
    void request.resume().once('end', () => {
      response.writeHead(201, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ workspace }));
    });
  const closeOf = (request: IncomingMessage) =>
    new Promise<void>((closed) => void request.once('close', closed));
  const said = () =>
    shown.flatMap(({ method, params }) =>
      method === 'session/update' ? (params as unknown as Said).update.content.text : [],
    );
  const writes = (message: Message) => void editor.write(`${JSON.stringify(message)}\n`);
  const answers = (id: number, result: Record<string, unknown>) =>
    socket.send(JSON.stringify({ id, result }));
  const arrives = (method: string, id?: number) =>
    until(`${method} at the server`, () =>
      asked.find((one) => one.method === method && (id === undefined || one.id === id)),
    );
  const gets = (id: number) =>
    until(`the response ${id}`, () => shown.find((one) => one.id === id && one.result));
  const begin = async () => {
    writes({ id: 1, method: 'session/new', params: { cwd: folder, mcpServers: [] } });
    expect(await arrives('session/new')).toMatchObject({
      params: { _meta: { belay: { model: 'scripted:x' } } },
    });
    answers(1, { sessionId: 's' });
    await gets(1);
  };
  const prompt = (id: number) =>
    writes({ id, method: 'session/prompt', params: { sessionId: 's', prompt: [] } });

  it('sends the folder with the first prompt, and writes the changes before its response', async () => {
    await begin();
    prompt(2);
    expect(await arrives('session/prompt')).toMatchObject({
      params: { _meta: { belay: { workspace: 'w' } } },
    });
    answers(2, { stopReason: 'end_turn' });
    await gets(2);
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('two\n');
    prompt(3);
    expect((await arrives('session/prompt', 3)).params).not.toHaveProperty('_meta');
  });

  it('refuses a line that is not JSON, leaves other faults to the server, and reads on', async () => {
    const astray = ['[1]', '{"id":{}}', '{"id":5,"method":"session/list","params":[1]}'];
    for (const line of ['not json', ...astray]) editor.write(`${line}\n`);
    await begin();
    const refusals = shown.filter(({ id }) => id === null);
    expect(refusals.map(({ error }) => error?.code)).toEqual([-32_700]);
    expect(asked.slice(0, -1)).toEqual(astray.map((line) => JSON.parse(line) as unknown));
    const error = { code: -32_602, message: 'Invalid params' };
    socket.send(JSON.stringify({ id: 5, error }));
    await until('its refusal', () => shown.some((one) => one.id === 5 && one.error));
  });

  it('says why the server has ended the connection', async () => {
    await begin();
    socket.close(1012, 'The server restarts');
    const ended = running;
    running = Promise.resolve();
    await expect(ended).rejects.toThrow('has ended the connection: The server restarts.');
  });

  it('writes the changes of a cancelled prompt', async () => {
    await begin();
    prompt(2);
    await arrives('session/prompt');
    answers(2, { stopReason: 'cancelled' });
    await gets(2);
    // The old file is moved away before the new one takes its place.
    const content = () => readFile(join(folder, 'a.txt'), 'utf8').catch(() => undefined);
    await until('the changes', async () => (await content()) === 'two\n');
  });

  it.each(['session/cancel', 'session/close'])(
    'ends an upload at %s, and sends the folder with the next prompt',
    async (method) => {
      await begin();
      const uploading = Promise.withResolvers<IncomingMessage>();
      upload = uploading.resolve;
      prompt(2);
      const ended = closeOf(await uploading.promise);
      writes({ method, params: { sessionId: 's' } });
      expect(await gets(2)).toMatchObject({ result: { stopReason: 'cancelled' } });
      await ended;
      await arrives(method);
      expect(asked.filter((one) => one.method === 'session/prompt')).toEqual([]);
      upload = storedAs('again');
      prompt(3);
      expect(await arrives('session/prompt')).toMatchObject({
        params: { _meta: { belay: { workspace: 'again' } } },
      });
    },
  );

  it('sends the folder again after a refused first prompt', async () => {
    await begin();
    prompt(2);
    await arrives('session/prompt');
    socket.send(JSON.stringify({ id: 2, error: { code: -32_602, message: 'No such model.' } }));
    await until('the refusal', () => shown.find(({ id }) => id === 2));
    upload = storedAs('again');
    prompt(3);
    expect(await arrives('session/prompt', 3)).toMatchObject({
      params: { _meta: { belay: { workspace: 'again' } } },
    });
  });

  it('ends an upload when the editor ends', async () => {
    await begin();
    const uploading = Promise.withResolvers<IncomingMessage>();
    upload = uploading.resolve;
    prompt(2);
    const ended = closeOf(await uploading.promise);
    editor.end();
    await running;
    await ended;
  });

  it('warns of files that look like secrets before it sends them', async () => {
    await writeFile(join(folder, '.env'), 'KEY=1');
    await writeFile(join(folder, '.env.example'), 'KEY=');
    await begin();
    prompt(2);
    await arrives('session/prompt');
    expect(said()).toEqual([
      '1 file looks like secrets, and the agent can read them: .env. Name them in .gitignore to leave them out.\n\n',
    ]);
    prompt(3);
    await arrives('session/prompt', 3);
    expect(said()).toHaveLength(1);
  });

  it('says nothing about a folder without them, but names what it left out', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await begin();
    prompt(2);
    await arrives('session/prompt');
    expect(said()).toEqual(['Left out 1 path (a socket, pipe or device): pipe\n\n']);
  });

  it('lists the sessions whose folders it knows', async () => {
    await begin();
    prompt(2);
    await arrives('session/prompt');
    for (const [id, cwd, expected] of [
      [3, undefined, [{ sessionId: 's', cwd: folder }]],
      [4, folder, [{ sessionId: 's', cwd: folder }]],
      [5, '/elsewhere', []],
    ] as const) {
      writes({ id, method: 'session/list', params: { ...(cwd && { cwd }) } });
      await arrives('session/list', id);
      answers(id, { sessions: ['s', 'other'].map((sessionId) => ({ sessionId, cwd: '/x' })) });
      expect((await gets(id)).result).toEqual({ sessions: expected });
    }
  });
});
