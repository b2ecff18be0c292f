import { methods } from '@agentclientprotocol/sdk';
import { newEvent } from '@belay/protocol';
import { until } from '@belay/testing';
import { ownerCaller } from '../../access/caller.js';
import { TokensStore } from '../../access/tokens.store.js';
import { TransientNotices } from '../../logs/transient-notices.js';
import { AcpEditor } from '../../testing/acp-editor.js';
import { TestServer } from '../../testing/server.js';
import type * as stopped from '../limits/testing/stopped-buckets.js';
import type * as buckets from '../limits/token-bucket.js';
import { hunksOf } from './file-hunks.js';

// So that nothing is added while requests are counted.
jest.mock('../limits/token-bucket.js', () =>
  jest
    .requireActual<typeof stopped>('../limits/testing/stopped-buckets.js')
    .stoppedBuckets(jest.requireActual<typeof buckets>('../limits/token-bucket.js')),
);

describe('ACP', () => {
  const server = new TestServer();
  const editors: AcpEditor[] = [];
  beforeAll(() => server.start());
  afterAll(() => server.close());
  afterEach(() => {
    for (const editor of editors.splice(0)) editor.close();
  });

  const editor = async (token = server.token): Promise<AcpEditor> => {
    const made = await new AcpEditor().connect(server.url, token);
    editors.push(made);
    await made.initialize();
    return made;
  };
  const says = (session: string, action: string, args: object, id?: string) =>
    server.sandboxes.says(server.log, session, { action, args, ...(id && { id }) });

  it('drives a session: prompt, thoughts, plan, tool calls with diffs, permissions, the next prompt', async () => {
    const me = await editor();
    expect(await me.initialize()).toMatchObject({ agentCapabilities: { loadSession: true } });
    const { sessionId, modes } = await me.begin();
    expect(modes?.availableModes.map(({ id }) => id)).toContain('auto');
    await me.agent.request(methods.agent.session.setMode, { sessionId, modeId: 'auto' });
    const turn = me.prompt(sessionId, 'Paint the wall');
    await until('the session', () => server.sandboxes.agents.has(sessionId));
    await server.reaches(sessionId, 'running');
    expect(await server.log.settings(sessionId)).toMatchObject({
      task: 'Paint the wall',
      approvals: 'auto',
    });
    await says(sessionId, 'say', { text: 'I will.', reasoning: 'Walls are large.', calls: [] });
    await says(sessionId, 'plan', { markdown: '- [x] look\n- [ ] paint' });
    await says(sessionId, 'files.write', { path: 'a.txt', content: 'blue' }, 'c1');
    server.sandboxes.answer = () => ({
      diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-red\n+blue\n',
      truncated: false,
      files: [],
    });
    await says(
      sessionId,
      'commit',
      { commit: 'b'.repeat(40), parent: 'a'.repeat(40), files: [] },
      'c1',
    );
    await says(
      sessionId,
      'result',
      { operation: 'files.write', ok: true, output: {}, seconds: 0 },
      'c1',
    );
    const request = {
      id: 'q',
      operation: 'terminal.run',
      input: {},
      risk: 'execute',
      subject: 'ls',
    };
    const args = { ...request, mode: 'ask', until: null } as never;
    await server.log.append(sessionId, [
      newEvent('server', 'approval', { args, message: 'May it?', id: 'q' }),
    ]);
    const approved = async () =>
      (await server.log.read(sessionId, { after: 0 })).some(({ action }) => action === 'approve');
    await until('the permission', approved);
    await server.sandboxes.finishes(server.log, sessionId, 'Painted.');
    expect(await turn).toMatchObject({ stopReason: 'end_turn' });
    expect(me.asked).toMatchObject([
      { sessionId, toolCall: { toolCallId: 'q', title: 'terminal.run ls' } },
    ]);
    expect(me.of('agent_thought_chunk')).toMatchObject([{ content: { text: 'Walls are large.' } }]);
    expect(me.of('agent_message_chunk').map(({ content }) => content)).toMatchObject([
      { text: 'I will.' },
      { text: 'Painted.' },
    ]);
    expect(me.of('plan')).toMatchObject([
      { entries: [{ status: 'completed' }, { status: 'in_progress' }] },
    ]);
    expect(me.of('tool_call')).toMatchObject([
      {
        toolCallId: 'c1',
        kind: 'edit',
        status: 'in_progress',
        locations: [{ path: '/home/me/app/a.txt' }],
      },
    ]);
    expect(me.of('tool_call_update').at(-1)).toMatchObject({
      status: 'completed',
      content: [
        { type: 'diff', path: '/home/me/app/a.txt', oldText: 'one\nred', newText: 'one\nblue' },
      ],
    });
    expect(me.of('user_message_chunk')).toEqual([]);

    const next = me.prompt(sessionId, 'And the roof');
    await server.reaches(sessionId, 'running');
    await says(sessionId, 'ask', { question: 'Which colour?', options: [] }, 'a');
    expect(await next).toMatchObject({ stopReason: 'end_turn' });
    expect(me.of('agent_message_chunk').at(-1)).toMatchObject({
      content: { text: 'Which colour?' },
    });
  });

  it('cancels a turn, and loads a session with all that happened', async () => {
    const me = await editor();
    const { sessionId } = await me.begin();
    const turn = me.prompt(sessionId, 'Wait');
    await until('the session', () => server.sandboxes.agents.has(sessionId));
    await server.reaches(sessionId, 'running');
    await me.agent.notify(methods.agent.session.cancel, { sessionId });
    expect(await turn).toMatchObject({ stopReason: 'cancelled' });
    const other = await editor();
    await other.load(sessionId);
    expect(other.of('user_message_chunk')).toMatchObject([{ content: { text: 'Wait' } }]);
    // A prompt resumes it there.
    const resumed = other.prompt(sessionId, 'Go on');
    await server.reaches(sessionId, 'running');
    await server.sandboxes.finishes(server.log, sessionId, 'Resumed.');
    expect(await resumed).toMatchObject({ stopReason: 'end_turn' });
    expect(other.of('agent_message_chunk')).toMatchObject([{ content: { text: 'Resumed.' } }]);
    expect(other.of('user_message_chunk')).toHaveLength(1);
  });

  it('shows a reply while it is written, and no other session’s', async () => {
    const me = await editor();
    const { sessionId } = await me.begin();
    const turn = me.prompt(sessionId, 'Count');
    await until('the session', () => server.sandboxes.agents.has(sessionId));
    await server.reaches(sessionId, 'running');
    await says(sessionId, 'plan', { markdown: '- [ ] count' });
    await until('the turn is shown', () => me.of('plan').length === 1);
    const live = server.app.get(TransientNotices);
    live.delta(sessionId, 'reasoning', 'Easy');
    live.delta('another', 'text', 'secret');
    live.delta(sessionId, 'text', 'One, ');
    await until('it is shown', () => me.of('agent_message_chunk').length === 1);
    await says(sessionId, 'say', { text: 'One, two.', reasoning: 'Easy.', calls: [] });
    await server.sandboxes.finishes(server.log, sessionId);
    await turn;
    const shown = me.of('agent_message_chunk').map(({ content }) => content);
    expect(shown).toMatchObject([{ text: 'One, ' }, { text: 'two.' }]);
    const thoughts = me.of('agent_thought_chunk').map(({ content }) => content);
    expect(thoughts).toMatchObject([{ text: 'Easy' }, { text: '.' }]);
  });

  it('refuses what is wrong in one sentence', async () => {
    const me = await editor();
    const { sessionId } = await me.begin();
    const fails = (work: Promise<unknown>, code: string) =>
      expect(work).rejects.toMatchObject({ data: { code } });
    await fails(me.prompt('none', 'x'), 'not_found');
    await fails(
      me.agent.request(methods.agent.session.setMode, { sessionId, modeId: 'never' }),
      'invalid_input',
    );
    await fails(me.load('none'), 'not_found');
  });

  describe('attacks: ACP', () => {
    it('no socket without a token, a viewer begins nothing, another’s session is not there, revocation closes', async () => {
      await expect(new AcpEditor().connect(server.url, 'wrong')).rejects.toBeDefined();
      const viewer = await editor(server.viewerToken);
      await expect(viewer.begin()).rejects.toMatchObject({ data: { code: 'forbidden' } });
      const made = { label: 'x', scope: 'operate', sessions: 'own', expires: null } as const;
      const { token, id } = await server.app.get(TokensStore).create(made, ownerCaller);
      const session = await server.session();
      const me = await editor(token);
      await expect(me.load(session)).rejects.toMatchObject({ data: { code: 'not_found' } });
      await server.app.get(TokensStore).revoke(id);
      await until('it is closed', () => me.closed === 4401);
    });

    it('a viewer that asks without pause is closed, and a user that asks as much is served', async () => {
      const ask = (one: AcpEditor) =>
        Promise.allSettled(Array.from({ length: 400 }, () => one.initialize()));
      const viewer = await editor(server.viewerToken);
      const user = await editor();
      void ask(viewer);
      await until('the viewer is closed', () => viewer.closed === 4429);
      const answers = await ask(user);
      expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(400);
    });
  });
});

it('reads the hunks of new, changed and removed files, and of none', () => {
  const diff = `diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\ndiff --git a/o b/o\n--- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n`;
  expect(hunksOf(diff)).toEqual([
    { path: 'n', oldText: null, newText: 'x' },
    { path: 'o', oldText: 'y', newText: '' },
  ]);
  expect(hunksOf('')).toEqual([]);
});
