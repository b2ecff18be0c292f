import { isFact } from '@belay/protocol';
import { describeSystem } from '../describe-system.js';
import { start } from '../follow.js';
import { run, script } from '../script.js';

describeSystem('a person and an agent', (server) => {
  it('talk: a question waits for the answer, and a message after the end goes on', async () => {
    const model = script(server.data, [
      {
        calls: [
          { operation: 'ask', input: { question: 'Which colour?', options: ['red', 'blue'] } },
        ],
      },
      { expect: 'blue', finish: 'painted' },
      { calls: [run('echo again')] },
      { finish: 'done twice' },
    ]);
    const session = await start(server, { task: 'Paint', model });
    await session.state('waiting');
    expect(await server.client.sessions.get(session.id)).toMatchObject({
      question: 'Which colour?',
    });
    await server.client.sessions.message(session.id, { text: 'blue' });
    const end = await session.ended();
    expect(end.args).toMatchObject({ state: 'finished' });
    await server.client.sessions.message(session.id, { text: 'Once more' });
    await session.event(
      (event) => isFact(event, 'state') && event.args.state === 'finished',
      end.seq,
    );
    expect(session.terminal()).toContain('again');
    session.close();
  });

  it('pause, look around, and go on', async () => {
    const model = script(server.data, [
      { calls: [run('echo begun; sleep 1; echo slept')] },
      { calls: [run('echo resumed')] },
      { finish: 'done' },
    ]);
    const session = await start(server, { task: 'Pause', model });
    await session.until(() => session.terminal().includes('begun'), 'the command');
    await server.client.sessions.pause(session.id);
    await session.state('paused');
    const time = await server.client.sessions.call(session.id, 'system.time', {});
    expect(time).toMatchObject({ time: expect.any(String) });
    expect(session.terminal()).not.toContain('resumed');
    await server.client.sessions.resume(session.id);
    await session.finished();
    expect(session.terminal()).toContain('resumed');
    session.close();
  });

  it('stop at once, in the middle of a command', async () => {
    const model = script(server.data, [{ calls: [run('echo begun; sleep 100', { wait: 100 })] }]);
    const session = await start(server, { task: 'Sleep', model });
    await session.until(() => session.terminal().includes('begun'), 'the command');
    const stopped = Date.now();
    await server.client.sessions.stop(session.id);
    expect((await session.ended()).args).toMatchObject({ state: 'stopped' });
    expect(Date.now() - stopped).toBeLessThan(10_000);
    session.close();
  });

  it('share a terminal: what a person types runs, and the agent is told who holds it', async () => {
    const model = script(server.data, [
      { calls: [run('echo mine')] },
      { calls: [{ operation: 'ask', input: { question: 'Done?' } }] },
      { calls: [{ operation: 'terminal.read', input: { from: 0 } }] },
      { expect: 'typed-by-hand', finish: 'seen' },
    ]);
    const session = await start(server, { task: 'Share', model });
    await session.state('waiting');
    const terminal = { session: session.id, terminal: 'main' };
    await server.live.request('terminal.hold', { ...terminal, holder: 'user' });
    await server.live.request('terminal.keys', { ...terminal, data: 'echo typed-by-"hand"\r' });
    await session.until(() => session.terminal().includes('typed-by-hand'), 'the echo');
    await server.live.request('terminal.hold', { ...terminal, holder: 'agent' });
    await server.client.sessions.message(session.id, { text: 'Done' });
    await session.finished();
    session.close();
  });

  it('agree on guidance: AGENTS.md counts only when the workspace is trusted', async () => {
    const seen = async (trust: boolean) => {
      const { workspace } = await server.client.uploadWorkspace(
        tarOf('AGENTS.md', 'Speak French.'),
      );
      const model = script(server.data, [{ calls: [run('cat AGENTS.md')] }, { finish: 'done' }]);
      const session = await start(server, { task: 'Speak', model, workspace, trust });
      await session.ended();
      session.close();
      return session.events.filter((event) => isFact(event, 'guidance')).map((event) => event.args);
    };
    expect(await seen(false)).toEqual([]);
    expect(await seen(true)).toMatchObject([
      { files: [{ path: 'AGENTS.md', text: 'Speak French.' }] },
    ]);
  });
});

/** A tar archive of one small file, by the ustar format. */
function tarOf(name: string, text: string): Uint8Array {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write('0001750\0', 108);
  header.write('0001750\0', 116);
  header.write(`${Buffer.byteLength(text).toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512);
  body.write(text);
  return Buffer.concat([header, body, Buffer.alloc(1024)]);
}
