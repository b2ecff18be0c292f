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
import { until } from '@belay/testing';

const bundle = 'apps/cli/dist/bundle/belay.cjs';

describeSystem('clients that start belay and speak over its standard input', (server) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-editor-'));
    await writeFile(join(folder, 'b.txt'), 'zero\n');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

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

  it('ACP’s client gets the changes of a cancelled prompt, also after it was closed', async () => {
    const write = { operation: 'files.write', input: { path: 'kept.txt', content: 'kept\n' } };
    const turns = [{ calls: [write] }, { calls: [run('sleep 600')] }, { finish: 'Done.' }];
    const model = script(server.data, turns, 100);
    const first = await editor(model);
    const { session } = methods.agent;
    const { sessionId } = await first.agent.request(session.new, { cwd: folder, mcpServers: [] });
    const turn = first.prompt(sessionId, 'Write');
    const isRunning = () => first.textOf('tool_call').join().includes('sleep 600');
    await until('the command', isRunning);
    await first.agent.notify(session.cancel, { sessionId });
    expect(await turn).toMatchObject({ stopReason: 'cancelled' });
    expect(first.textOf('tool_call_update').at(-1)).toContain('"failed"');
    await first.close();
    const kept = () => readFile(join(folder, 'kept.txt'), 'utf8').catch(() => '');
    expect(await kept()).toBe('kept\n');
    const second = await editor(model);
    const { sessions } = await second.agent.request(session.list, { cwd: folder });
    expect(sessions.find((one) => one.sessionId === sessionId)).toMatchObject({ cwd: folder });
    await second.agent.request(session.resume, { sessionId, cwd: folder, mcpServers: [] });
    expect(await second.prompt(sessionId, 'Go on')).toMatchObject({ stopReason: 'end_turn' });
    await second.close();
  });
});
