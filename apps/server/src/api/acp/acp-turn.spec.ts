import { methods } from '@agentclientprotocol/sdk';
import { newEvent } from '@belay/protocol';
import { until } from '@belay/testing';
import { BlobStore } from '../../logs/blob-store.js';
import { TerminalLog } from '../../logs/terminal-log.js';
import { TransientNotices } from '../../logs/transient-notices.js';
import { AcpEditor } from '../../testing/acp-editor.js';
import { TestServer } from '../../testing/server.js';

describe('a turn over ACP', () => {
  const server = new TestServer();
  let me: AcpEditor;
  let session: string;
  let turn: ReturnType<AcpEditor['prompt']>;
  beforeAll(() => server.start());
  afterAll(() => server.close());
  beforeEach(async () => {
    me = await new AcpEditor().connect(server.url, server.token);
    await me.initialize();
    session = (await me.begin()).sessionId;
    turn = me.prompt(session, 'Work');
    await until('the session', () => server.sandboxes.agents.has(session));
    await server.reaches(session, 'running');
  });
  afterEach(() => me.close());

  const says = (action: string, args: object, id?: string) =>
    server.sandboxes.says(server.log, session, { action, args, ...(id && { id }) });
  const cancel = () => me.agent.notify(methods.agent.session.cancel, { sessionId: session });
  const finish = async () => {
    await server.sandboxes.finishes(server.log, session);
    return turn;
  };
  const updatesOf = (call: string) =>
    me.of('tool_call_update').filter(({ toolCallId }) => toolCallId === call);
  const textOf = (call: string) => JSON.stringify(updatesOf(call).at(-1)?.content);

  it('shows the output of a command while it runs, then its result as text', async () => {
    await says('terminal.run', { command: 'make', terminal: 'main' }, 'c1');
    await until('the call', () => me.of('tool_call').length === 1);
    const bytes = Buffer.from('\u001b[32mbuilding\u001b[0m\r\n10%\r20%');
    await server.app.get(TerminalLog).append(session, 'main', 0, bytes);
    await until('its output', () => textOf('c1')?.includes('20%'));
    expect(updatesOf('c1').at(-1)?.content).toEqual([
      { type: 'content', content: { type: 'text', text: 'building\n20%' } },
    ]);
    // Another terminal’s output is not that of this call.
    await server.app.get(TerminalLog).append(session, 'other', 0, Buffer.from('elsewhere'));
    const output = {
      text: 'built\n',
      omittedBytes: 0,
      from: 0,
      to: 9,
      terminal: 'main',
      status: 'exited',
      exitCode: 2,
      seconds: 1,
      directory: '/workspace',
    };
    await says('result', { operation: 'terminal.run', ok: true, output, seconds: 1 }, 'c1');
    await finish();
    expect(updatesOf('c1').at(-1)).toMatchObject({
      status: 'completed',
      content: [{ content: { text: 'built\n[exit code 2]' } }],
    });
    expect(JSON.stringify(me.updates)).not.toContain('elsewhere');
  });

  it('shows what an action prints, and the pictures and sounds of its result', async () => {
    await says('action.draw', { args: [] }, 'c1');
    await until('the call', () => me.of('tool_call').length === 1);
    server.app.get(TransientNotices).output(session, 'c1', 'drawing');
    await until('its output', () => textOf('c1')?.includes('drawing'));
    const blobs = server.app.get(BlobStore);
    const image = await blobs.putOf(session, Buffer.from('pixels'), 'image/png');
    const sound = await blobs.putOf(session, Buffer.from('waves'), 'audio/wav');
    const output = {
      text: 'drawn',
      errors: '',
      exitCode: 0,
      seconds: 1,
      images: [image],
      audio: [sound],
    };
    const args = { operation: 'action.draw', ok: true, output, seconds: 1, images: [image] };
    await says('result', args, 'c1');
    await finish();
    expect(updatesOf('c1').at(-1)?.content).toEqual([
      { type: 'content', content: { type: 'text', text: 'drawn' } },
      {
        type: 'content',
        content: { type: 'image', mimeType: 'image/png', data: btoa('pixels') },
      },
      { type: 'content', content: { type: 'audio', mimeType: 'audio/wav', data: btoa('waves') } },
    ]);
  });

  it('keeps a call open that goes on in the background until it ends', async () => {
    await says('action.render', {}, 'c1');
    const started = { background: 'c1', text: 'It is running in the background.' };
    await says(
      'result',
      { operation: 'action.render', ok: true, output: started, seconds: 0 },
      'c1',
    );
    await until('the call', () => me.of('tool_call').length === 1);
    server.app.get(TransientNotices).output(session, 'c1', 'frame 1');
    await until('its output', () => textOf('c1')?.includes('frame 1'));
    expect(updatesOf('c1').some(({ status }) => status === 'completed')).toBe(false);
    const output = { text: 'rendered', errors: '', exitCode: 0, seconds: 1 };
    const args = { operation: 'action.render', ok: true, output, seconds: 1 };
    const message = 'It ended.';
    await server.log.append(session, [
      newEvent('server', 'background-result', { args, message, id: 'c1' }),
    ]);
    await finish();
    expect(updatesOf('c1').at(-1)).toMatchObject({
      status: 'completed',
      content: [{ content: { text: 'rendered' } }],
    });
  });

  it('allows a call always, so that an equal one is not asked again', async () => {
    me.decision = 'always';
    const request = { operation: 'terminal.run', input: { command: 'ls' }, risk: 'execute' };
    const args = { ...request, id: 'q', subject: 'ls', mode: 'ask', until: null } as never;
    await server.log.append(session, [
      newEvent('server', 'approval', { args, message: 'May it?', id: 'q' }),
    ]);
    await until('the approval', async () =>
      (await server.log.read(session, { after: 0 })).some(({ action }) => action === 'approve'),
    );
    expect(me.asked[0]?.options.map(({ kind }) => kind)).toEqual([
      'allow_once',
      'allow_always',
      'reject_once',
    ]);
    expect(await server.json('GET', '/api/rules')).toMatchObject([
      { scope: 'session', session, operation: 'terminal.run', pattern: 'ls', verdict: 'approved' },
    ]);
    await finish();
  });

  it('ends calls that a cancellation leaves without a result, also for who loads the session', async () => {
    await says('terminal.run', { command: 'sleep 100' }, 'c1');
    await until('the call', () => me.of('tool_call').length === 1);
    await cancel();
    expect(await turn).toMatchObject({ stopReason: 'cancelled' });
    expect(updatesOf('c1').at(-1)).toMatchObject({ status: 'failed' });
    const other = await new AcpEditor().connect(server.url, server.token);
    await other.initialize();
    await other.load(session);
    expect(other.of('tool_call_update').at(-1)).toMatchObject({
      toolCallId: 'c1',
      status: 'failed',
    });
    other.close();
  });

  it('shows the answers that a question offers', async () => {
    await says('ask', { question: 'Which colour?', options: ['red', 'blue'] }, 'a');
    await turn;
    expect(me.of('agent_message_chunk').at(-1)).toMatchObject({
      content: { text: 'Which colour?\n\n- red\n- blue' },
    });
  });

  it('shows settings that were changed elsewhere', async () => {
    await server.json('PATCH', `/api/sessions/${session}`, { approvals: 'auto' });
    await until('the mode', () => me.of('current_mode_update').length === 1);
    expect(me.of('current_mode_update')).toMatchObject([{ currentModeId: 'auto' }]);
    expect(me.of('config_option_update')[0]?.configOptions).toMatchObject([
      { id: 'mode', currentValue: 'auto' },
      { id: 'model', currentValue: 'scripted:x' },
    ]);
    await finish();
  });
});
