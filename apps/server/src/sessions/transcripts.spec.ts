import type { Event, SessionSummary, TranscriptFile } from '@belay/protocol';
import { agentTable } from '../agents/agent-table.js';
import { SessionAgents } from '../agents/session-agents.js';
import { ConnectionLog } from '../sandboxes/connection/connection-log.js';
import { TestServer } from '../testing/server.js';

const lines = (...all: object[]) => all.map((line) => JSON.stringify(line)).join('\n');
const item = (payload: object, timestamp = '2026-01-02T03:04:05.000Z') => ({
  timestamp,
  type: 'response_item',
  payload,
});
const spoken = (role: string, text: string) =>
  item({ type: 'message', role, content: [{ type: 'input_text', text }] });
const rollout = lines(
  { type: 'session_meta', payload: { id: '../../x', cwd: '/home/me/project' } },
  spoken('user', 'Paint it'),
  item({ type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}', call_id: 'c' }),
  item({ type: 'function_call_output', call_id: 'c', output: 'wall.js' }),
  spoken('assistant', 'Which colour?'),
  spoken('user', 'Blue'),
  spoken('assistant', 'It is blue.'),
  { type: 'of the future', payload: {} },
);

describe('transcripts of agents on other machines', () => {
  const server = new TestServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());

  const own = { agent: { name: 'belay' }, model: 'scripted:x' };
  const imports = (more: object) =>
    server.json<SessionSummary & { detail: string }>('POST', '/api/sessions/import', {
      ...own,
      transcript: rollout,
      ...more,
    });
  const logOf = ({ id }: { id: string }) => server.log.read(id, { after: 0 });
  const shown = (events: readonly Event[]) =>
    events.map(({ action, message }) => `${action}: ${message}`);

  it('become sessions whose logs begin with them', async () => {
    const session = await imports({ message: 'Now red' });
    expect(session).toMatchObject({ status: 201, title: 'Paint it', task: 'Paint it', steps: 0 });
    const events = await logOf(session);
    const at = events.findIndex(({ action }) => action === 'imported');
    expect(shown(events.slice(0, at + 1))).toEqual([
      'start: Paint it',
      'turn: A turn began.',
      'terminal.run: terminal.run ls',
      'result: terminal.run ls done',
      'say: Which colour?',
      'turn: Turn done.',
      'message: Blue',
      'turn: A turn began.',
      'say: It is blue.',
      'turn: Turn done.',
      expect.stringMatching(
        /^imported: Imported from \S+ on another machine: 4 messages and 1 calls. 1 lines were not understood.$/,
      ),
    ]);
    expect(events[2]).toMatchObject({ time: '2026-01-02T03:04:05.000Z', source: 'agent' });
    expect(shown(events.slice(at + 1))).toEqual(
      expect.arrayContaining(['start: The session is restarting.', 'message: Now red']),
    );
    expect(Date.parse(session.wallTime.since ?? '')).toBeGreaterThan(Date.parse('2026-02-01'));
  });

  it('are continued by their own agent, if it is installed', async () => {
    const { status, detail } = await imports({ agent: undefined, model: 'openai:large' });
    expect(status).toBe(409);
    expect(detail).toMatch(/is not installed on this server: `belay agents install/);
  });

  it.each<[string, object, RegExp]>([
    [
      'is not one',
      { transcript: 'Hello' },
      /is not a transcript of .+ or .+, or the agent has said/,
    ],
    ['is empty', { transcript: '' }, /transcript/],
    ['has only a task', { transcript: lines(spoken('user', 'Task')) }, /said nothing/],
    ['is of another agent', { from: 'claude-code' }, /is not a transcript of/],
    ['is of an unknown agent', { from: '__proto__' }, /from/],
    ['is of an agent that has none', { from: 'opencode' }, /does not know the transcripts of/],
    ['has too many lines', { transcript: '{}\n'.repeat(200_001) }, /200,000 lines/],
  ])('are refused when the file %s', async (_, more, sentence) => {
    const before = await server.log.summaries();
    const { status, detail } = await imports(more);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(detail).toMatch(sentence);
    expect(await server.log.summaries()).toHaveLength(before.length);
  });

  it('are written for agents on other machines', async () => {
    const { id } = await imports({});
    const read = (query: string) =>
      server.json<TranscriptFile & { detail: string }>(
        'GET',
        `/api/sessions/${id}/transcript?${query}`,
      );
    for (const { name, transcripts } of agentTable.values()) {
      const file = await read(`format=${name}&cwd=/home/me/project`);
      if (!transcripts) {
        expect(file).toMatchObject({ status: 400 });
        continue;
      }
      expect(file.path).toContain(file.id);
      const { items, cwd } = transcripts.format.read(file.text);
      expect(cwd).toBe('/home/me/project');
      expect(items.map((one) => ('text' in one ? one.text : one.kind))).toEqual([
        'Paint it',
        'call',
        'wall.js',
        'Which colour?',
        'Blue',
        'It is blue.',
      ]);
    }
    expect(await read('format=codex&cwd=project')).toMatchObject({ status: 400 });
    expect(await read(`format=codex&cwd=/${'x'.repeat(300)}`)).toMatchObject({ status: 400 });
    expect(await read('format=codex')).toMatchObject({ status: 400 });
    const begun = await server.session();
    const none = await server.json(
      'GET',
      `/api/sessions/${begun}/transcript?format=codex&cwd=/home/me`,
    );
    expect(none).toMatchObject({ status: 409 });
  });

  it('are written for the program of the session alone', async () => {
    const { id } = await imports({});
    const log = server.app.get(ConnectionLog, { strict: false });
    expect(await log.programConversation(id, '/workspace')).toBeNull();
    const agents = server.app.get(SessionAgents, { strict: false });
    const settings = await server.log.settings(id);
    const agent = { name: 'codex', version: '1', protocol: 'acp' } as const;
    const ofCodex = new ConnectionLog(
      { settings: async () => ({ ...settings, agent }), read: () => logOf({ id }) } as never,
      agents,
    );
    const file = await ofCodex.programConversation(id, '/workspace');
    expect(file?.text).toContain('It is blue.');
    expect(file?.path).toMatch(/^sessions\/\d{4}\/\d\d\/\d\d\/rollout-[\w-]+\.jsonl$/);
  });
});
