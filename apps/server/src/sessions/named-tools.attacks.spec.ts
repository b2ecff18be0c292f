import { actionManifest, sessionSettings, type Comparison } from '@belay/protocol';
import { actionRecord } from '../actions/action-record.js';
import { ActionStore } from '../actions/action.store.js';
import { shout } from '../actions/testing/action-files.js';
import { ownerCaller } from '../access/caller.js';
import { overStdio } from '../mcp/testing/tools-server.js';
import { HostileAgent } from '../testing/hostile-agent.js';
import { TestServer } from '../testing/server.js';
import { Forking } from './forking.js';

const action = actionRecord.parse({
  name: 'shout',
  kind: 'action',
  enabled: true,
  current: {
    image: 'sha256:0',
    digest: '0'.repeat(64),
    manifest: actionManifest.parse(shout()),
    readme: null,
    source: { from: 'shout', version: null, commit: null, folder: '' },
    installed: '2026-01-01T00:00:00Z',
  },
  earlier: [],
});

/** What a session without a user names, and what it is to have. */
const nothing = {
  mcp: [],
  actions: [],
  egress: { profile: 'none', hosts: [] },
  approvals: 'auto',
} as const;

describe('attacks: a session that names no tools and no network has none', () => {
  const server = new TestServer();
  beforeAll(async () => {
    await server.start();
    await server.json('POST', '/api/mcp', { name: 'tools', transport: overStdio() });
    await server.app.get(ActionStore).put(action);
    await server.json('PATCH', '/api/settings', { egress: { profile: 'open', hosts: ['@npm'] } });
  });
  afterAll(() => server.close());

  const toolsOf = async (session: string) => {
    const { mcp, actions, egress } = await server.log.settings(session);
    const names = new Set([...mcp.map((tool) => tool.server), ...actions.map(({ name }) => name)]);
    return { tools: [...names], egress };
  };
  const none = { tools: [], egress: nothing.egress };

  it('while one that leaves them out has all that are enabled', async () => {
    expect(await toolsOf(await server.session())).toEqual({
      tools: ['tools', 'shout'],
      egress: { profile: 'open', hosts: ['@npm'] },
    });
    const hosts = ['a.example'];
    const one = await server.session({ ...nothing, egress: { profile: 'list', hosts } });
    expect(await toolsOf(one)).toEqual({ ...none, egress: { profile: 'list', hosts } });
  });

  it('from its first event on, in a comparison, in a fork, and after a restart', async () => {
    const session = await server.session(nothing);
    const [start] = await server.log.read(session, { after: 0 });
    expect(sessionSettings.parse(start?.args)).toMatchObject(nothing);
    expect(server.sandboxes.agents.get(session)?.startPayload.settings).toMatchObject(nothing);
    const fork = await server.app.get(Forking).fork(session, { seq: 1 }, ownerCaller);
    const { sessions } = await server.json<Comparison>('POST', '/api/comparisons', {
      ...nothing,
      task: 'x',
      models: ['scripted:a', 'scripted:b'],
    });
    await server.restart();
    for (const id of [session, fork.id, ...sessions.map((one) => one.id)])
      expect(await toolsOf(id)).toEqual(none);
    await server.sandboxes.stop(session);
    await server.json('POST', `/api/sessions/${session}/stop`);
    await server.json('POST', `/api/sessions/${session}/restart`);
    await server.reaches(session, 'running');
    expect(server.sandboxes.agents.get(session)?.startPayload.settings).toMatchObject(nothing);
  });

  it('whatever its agent calls', async () => {
    const session = await server.session(nothing);
    const agent = await HostileAgent.connect(server, session);
    const attempts = [
      ['mcp.tools.echo', { text: 'x' }, 'mcp.call', 'is not available in this session'],
      ['action.shout', { args: ['x'] }, 'action.call', 'is not available in this session'],
      ['web.search', { query: 'x' }, 'web.search', 'no host can be reached'],
    ] as const;
    for (const [operation, input, call, sentence] of attempts) {
      await agent.write(operation, input, operation);
      await expect(agent.send(call, { id: operation })).rejects.toThrow(sentence);
    }
    await expect(
      agent.connection.open('egress', { host: 'registry.npmjs.org', port: 443 }),
    ).rejects.toMatchObject({ code: 'rejected' });
    expect(await agent.questions()).toEqual([]);
    await agent.close();
  });

  it('also when a rule of the server allows such calls and hosts', async () => {
    for (const [operation, pattern] of [
      ['mcp.*', '*'],
      ['action.*', '*'],
      ['egress', 'registry.npmjs.org:443'],
    ])
      await server.json('POST', '/api/rules', { scope: 'all', operation, pattern });
    const session = await server.session({ ...nothing, approvals: 'rules' });
    const agent = await HostileAgent.connect(server, session);
    await agent.write('action.shout', { args: ['x'] }, 'a');
    await expect(agent.send('action.call', { id: 'a' })).rejects.toThrow('is not available');
    await expect(
      agent.connection.open('egress', { host: 'registry.npmjs.org', port: 443 }),
    ).rejects.toMatchObject({ code: 'rejected' });
    await agent.close();
  });
});
