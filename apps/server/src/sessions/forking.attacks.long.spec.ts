import type { Event, SessionSummary } from '@belay/protocol';
import { TestServer } from '../testing/server.js';

const commit = (digit: string) => ({ commit: digit.repeat(40), parent: null, files: [] });

describe('attacks: an agent that wants no fork of its session', () => {
  const server = new TestServer();
  let id: string;
  beforeAll(() => server.start());
  afterAll(() => server.close());
  beforeEach(async () => {
    id = await server.session();
    await says('commit', commit('a'));
  });

  const says = (action: string, args: object) =>
    server.sandboxes.says(server.log, id, { action, args });
  const result = (output: unknown) =>
    says('result', { operation: 'terminal.run', ok: true, output, seconds: 0 });
  const fork = async () => {
    const seq = await server.log.lastSeq(id);
    const made = await server.json<SessionSummary>('POST', `/api/sessions/${id}/fork`, { seq });
    expect(made).toMatchObject({ status: 201, forkedFrom: { session: id, seq } });
    await server.reaches(made.id, 'running');
    const events = await server.json<Event[]>('GET', `/api/sessions/${made.id}/events`);
    const { files } = server.sandboxes.agents.get(made.id) ?? {};
    return { files, message: events.find(({ action }) => action === 'fork')?.message };
  };

  it('positive control: the files are those of the last commit', async () => {
    const { files, message } = await fork();
    expect(files).toContain(`tar of ${id} at ${'a'.repeat(40)}`);
    expect(message).toMatch(/^Forked from event \d+ of “Fix”\.$/);
  });

  it.each([
    ['a path as the name of a terminal', { terminal: '../../server.json', to: 10 }],
    ['a terminal of no end', { terminal: 'main', to: Number.MAX_VALUE }],
    ['a terminal before its beginning', { terminal: 'main', to: -1 }],
    ['a terminal that is an object', { terminal: {}, to: {} }],
    ['no object', 'text'],
  ])('an output with %s', async (_, output) => {
    await result(output);
    expect((await fork()).files).toContain('tar of');
  });

  it('commits that its history does not have: the files are those of the last real one', async () => {
    for (const digit of ['b', 'c']) {
      server.sandboxes.missing.add(digit.repeat(40));
      await says('commit', commit(digit));
    }
    const { files, message } = await fork();
    expect(files).toContain(`tar of ${id} at ${'a'.repeat(40)}`);
    expect(message).toMatch(/ Its files are those of event \d+: later ones are gone\.$/);
  });

  it.each(['--output=/etc/passwd', 'HEAD', '', 'a'.repeat(65)])(
    'refuses to store the commit %j',
    async (name) => {
      const written = says('commit', { ...commit('a'), commit: name });
      await expect(written).rejects.toMatchObject({ code: 'invalid_input' });
    },
  );

  it('a history without any of them is one sentence', async () => {
    server.sandboxes.missing.add('a'.repeat(40));
    const seq = await server.log.lastSeq(id);
    const refused = await server.json('POST', `/api/sessions/${id}/fork`, { seq });
    server.sandboxes.missing.clear();
    expect(refused).toMatchObject({ status: 404, detail: 'The history has no such commit.' });
  });
});
