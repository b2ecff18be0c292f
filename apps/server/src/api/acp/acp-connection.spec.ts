import { methods } from '@agentclientprotocol/sdk';
import { until } from '@belay/testing';
import { AcpEditor } from '../../testing/acp-editor.js';
import { TestServer } from '../../testing/server.js';

describe('sessions over ACP', () => {
  const server = new TestServer();
  let me: AcpEditor;
  const { session } = methods.agent;
  beforeAll(() => server.start());
  afterAll(() => server.close());
  beforeEach(async () => {
    me = await new AcpEditor().connect(server.url, server.token);
  });
  afterEach(() => me.close());

  const option = (sessionId: string, configId: string, value: string) =>
    me.agent.request(session.setConfigOption, { sessionId, configId, value });

  it('are listed, resumed without their history, and closed', async () => {
    expect(await me.initialize()).toMatchObject({
      agentCapabilities: { sessionCapabilities: { list: {}, resume: {}, close: {} } },
    });
    const sessionId = await server.session({ task: 'Paint the wall' });
    const { sessions } = await me.agent.request(session.list, { cwd: '/home/me/app' });
    expect(sessions).toMatchObject([{ sessionId, cwd: '/home/me/app', title: 'Paint the wall' }]);
    const resumed = { sessionId, cwd: '/home/me/app', mcpServers: [] };
    expect(await me.agent.request(session.resume, resumed)).toMatchObject({
      configOptions: [{ id: 'mode' }, { id: 'model' }],
    });
    expect(me.updates).toEqual([]);
    const turn = me.prompt(sessionId, 'And the roof');
    await until('the message', async () =>
      (await server.log.read(sessionId, { after: 0 })).some(({ action }) => action === 'message'),
    );
    // Opened again during its turn, it still takes prompts afterwards.
    await me.agent.request(session.resume, resumed);
    await me.agent.notify(session.cancel, { sessionId });
    expect(await turn).toMatchObject({ stopReason: 'cancelled' });
    const next = me.prompt(sessionId, 'And the floor');
    await until('the next message', async () =>
      (await server.log.read(sessionId, { after: 0 })).some(
        ({ message }) => message === 'And the floor',
      ),
    );
    await me.agent.request(session.close, { sessionId });
    expect(await next).toMatchObject({ stopReason: 'cancelled' });
    await expect(me.prompt(sessionId, 'Again')).rejects.toMatchObject({
      data: { code: 'not_found' },
    });
  });

  it('have options for approvals and model, before and after their first prompt', async () => {
    await me.initialize();
    const { sessionId, configOptions } = await me.begin();
    expect(configOptions).toMatchObject([
      { id: 'mode', category: 'mode', currentValue: 'ask' },
      { id: 'model', category: 'model', currentValue: 'scripted:x' },
    ]);
    const [, model] = (await option(sessionId, 'model', 'scripted:y')).configOptions;
    expect(model).toMatchObject({ currentValue: 'scripted:y' });
    await option(sessionId, 'mode', 'auto');
    const turn = me.prompt(sessionId, 'Work');
    await until('the session', () => server.sandboxes.agents.has(sessionId));
    await server.reaches(sessionId, 'running');
    expect(await server.log.settings(sessionId)).toMatchObject({
      model: 'scripted:y',
      approvals: 'auto',
    });
    await option(sessionId, 'mode', 'safe');
    expect(await server.log.summary(sessionId)).toMatchObject({ approvals: 'safe' });
    await server.sandboxes.finishes(server.log, sessionId);
    await turn;
    for (const [configId, value] of [
      ['mode', 'never'],
      ['model', 'nobody'],
      ['colour', 'red'],
    ] as const)
      await expect(option(sessionId, configId, value)).rejects.toMatchObject({
        data: { code: 'invalid_input' },
      });
  });

  it('have the approvals of the server’s settings', async () => {
    await me.initialize();
    await server.json('PATCH', '/api/settings', { approvals: 'delay' });
    expect(await me.begin()).toMatchObject({ modes: { currentModeId: 'delay' } });
    await server.json('PATCH', '/api/settings', { approvals: 'ask' });
  });

  it('stop when a prompt is cancelled while it is sent', async () => {
    await me.initialize();
    const { sessionId } = await me.begin();
    for (const text of ['Begin', 'Go on']) {
      const turn = me.prompt(sessionId, text);
      await me.agent.notify(session.cancel, { sessionId });
      expect(await turn).toMatchObject({ stopReason: 'cancelled' });
      expect(await server.log.summary(sessionId)).toMatchObject({ state: 'stopped' });
    }
  });
});
