import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import {
  client as editorApp,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { built, describeSystem, run, script } from '@belay/testkit';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const bundle = 'apps/cli/dist/bundle/belay.cjs';

describeSystem('clients that start belay and speak over its standard input', (server) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-editor-'));
    await writeFile(join(folder, 'b.txt'), 'zero\n');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('MCP’s client drives a session by belay mcp: progress, a question, operations, resources', async () => {
    const model = script(server.data, [{ calls: [run('echo one > a.txt')] }, { finish: 'Done.' }]);
    const client = new Client(
      { name: 'test', version: '1' },
      { capabilities: { elicitation: {} } },
    );
    const asked: string[] = [];
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { decision: 'approve' } };
    });
    const env = { PATH: process.env['PATH'] ?? '', BELAY_DATA: server.data };
    const args = [built(bundle), 'mcp'];
    const transport = new StdioClientTransport({ command: process.execPath, args, env });
    await client.connect(transport);
    const call = async (name: string, input: object, onprogress?: () => void) => {
      const asking = { name, arguments: { ...input } };
      const options = { timeout: 150_000, ...(onprogress && { onprogress }) };
      const { structuredContent, _meta } = await client.callTool(asking, undefined, options);
      return Object(structuredContent ?? _meta?.['belay/problem']) as Record<string, unknown>;
    };
    const start = { task: 'Write', approvals: 'ask', paused: true };
    expect(await call('session_start', { ...start, model })).toMatchObject({ code: 'forbidden' });
    const example = 'scripted:example:fix-failing-test';
    const session = String((await call('session_start', { ...start, model: example }))['id']);
    // The script is a file of the host, which an admin may name, but not over MCP.
    await server.client.sessions.change(session, { model });
    await call('session_resume', { session });
    let progress = 0;
    const waited = await call('session_wait', { session }, () => (progress += 1));
    expect(waited).toMatchObject({ session: { state: 'finished' } });
    expect(asked.join()).toContain('echo one > a.txt');
    expect(progress).toBeGreaterThan(2);
    expect(await call('files_read', { session, path: 'a.txt' })).toMatchObject({
      content: 'one\n',
    });
    expect(await call('files_read', { session, path: 'none' })).toMatchObject({
      code: 'not_found',
    });
    const uri = `belay://sessions/${session}/files/a.txt`;
    const { contents } = await client.readResource({ uri });
    expect(contents).toMatchObject([{ uri, text: 'one\n' }]);
    await client.close();
  });

  /** An editor that starts `belay acp`, as Zed does. */
  const editor = async (model: string) => {
    const child = spawn(process.execPath, [built(bundle), 'acp', '-m', model], {
      env: { ...process.env, BELAY_DATA: server.data, XDG_DATA_HOME: server.data },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const updates: SessionUpdate[] = [];
    const stream = ndJsonStream(
      Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    );
    const { agent } = editorApp({ name: 'test' })
      .onNotification(methods.client.session.update, ({ params }) => {
        updates.push(params.update);
      })
      .onRequest(methods.client.session.requestPermission, () => ({
        outcome: { outcome: 'selected', optionId: 'approved' },
      }))
      .connect(stream);
    await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: {},
    });
    const prompt = (sessionId: string, text: string) =>
      agent.request(methods.agent.session.prompt, {
        sessionId,
        prompt: [{ type: 'text', text }],
      });
    const textOf = (kind: SessionUpdate['sessionUpdate']) =>
      updates.flatMap((update) => (update.sessionUpdate === kind ? [JSON.stringify(update)] : []));
    const close = async () => {
      child.stdin.end();
      await once(child, 'exit');
    };
    return { agent, prompt, textOf, close };
  };

  it('ACP’s client drives a session by belay acp, and another one continues it', async () => {
    const say = 'I write a file now, and tell you of it.';
    const write = { operation: 'files.write', input: { path: 'a.txt', content: 'one\n' } };
    const turns = [{ say, calls: [write] }, { finish: 'Done.' }, { finish: 'Again.' }];
    const model = script(server.data, turns, 100);
    const first = await editor(model);
    const { sessionId } = await first.agent.request(methods.agent.session.new, {
      cwd: folder,
      mcpServers: [],
    });
    expect(await first.prompt(sessionId, 'Write')).toMatchObject({ stopReason: 'end_turn' });
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('one\n');
    // Chunks as they were streamed, then the summary.
    expect(first.textOf('agent_message_chunk').length).toBeGreaterThan(2);
    expect(first.textOf('tool_call_update').join()).toContain('"type":"diff"');
    await first.close();
    const second = await editor(model);
    const load = { sessionId, cwd: folder, mcpServers: [] };
    await second.agent.request(methods.agent.session.load, load);
    expect(second.textOf('agent_message_chunk').join()).toContain(say);
    expect(await second.prompt(sessionId, 'Go on')).toMatchObject({ stopReason: 'end_turn' });
    expect(second.textOf('agent_message_chunk').at(-1)).toContain('Again.');
    await second.close();
  });
});
