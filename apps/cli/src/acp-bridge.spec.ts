import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
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
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
}

describe('belay acp between an editor and a server', () => {
  let root: string;
  let folder: string;
  let listener: WebSocketServer;
  let socket: WebSocket;
  let editor: PassThrough;
  let running: Promise<boolean>;
  /** What the server and the editor have received. */
  let asked: Message[];
  let shown: Message[];
  let upload: () => Promise<{ workspace: string }>;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'belay-acp-'));
    folder = await mkdtemp(join(tmpdir(), 'belay-editor-'));
    await writeFile(join(folder, 'a.txt'), 'one\n');
    [asked, shown] = [[], []];
    upload = () => Promise.resolve({ workspace: 'w' });
    listener = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(listener, 'listening');
    const connected = once(listener, 'connection');
    editor = new PassThrough();
    const client = {
      uploads: { workspace: () => upload() },
      sessions: {
        wake: () => Promise.resolve(),
        call: () => Promise.resolve({ steps: [{ commit: 'c1' }] }),
        export: () => Promise.resolve(patch),
      },
    } as unknown as BelayClient;
    const bridge = new AcpBridge({
      address: { url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`, token: 't' },
      client,
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
    expect(await running).toBe(false);
    listener.close();
    for (const one of [root, folder]) await rm(one, { recursive: true });
  });

  const patch = Buffer.from(
    'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n',
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

  it('writes the changes of a cancelled prompt', async () => {
    await begin();
    prompt(2);
    await arrives('session/prompt');
    answers(2, { stopReason: 'cancelled' });
    await gets(2);
    const content = () => readFile(join(folder, 'a.txt'), 'utf8');
    await until('the changes', async () => (await content()) === 'two\n');
  });

  it('cancels a prompt whose folder is still being sent, and sends it with the next one', async () => {
    await begin();
    const uploading = Promise.withResolvers<{ workspace: string }>();
    let uploads = 0;
    upload = () => ((uploads += 1), uploading.promise);
    prompt(2);
    await until('the upload', () => uploads === 1);
    writes({ method: 'session/cancel', params: { sessionId: 's' } });
    await until('the bridge has read it', () => editor.readableLength === 0);
    uploading.resolve({ workspace: 'late' });
    expect(await gets(2)).toMatchObject({ result: { stopReason: 'cancelled' } });
    await arrives('session/cancel');
    expect(asked.filter(({ method }) => method === 'session/prompt')).toEqual([]);
    upload = () => Promise.resolve({ workspace: 'again' });
    prompt(3);
    expect(await arrives('session/prompt')).toMatchObject({
      params: { _meta: { belay: { workspace: 'again' } } },
    });
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
