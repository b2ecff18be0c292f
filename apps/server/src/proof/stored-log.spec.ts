import { FollowedLog } from '@belay/proof';
import { newEvent, type MadeToken, type NotedHead } from '@belay/protocol';
import { TestServer } from '../testing/server.js';

describe('a log with its digests', () => {
  const server = new TestServer();
  let session: string;
  beforeAll(async () => {
    await server.start({});
    session = await server.session({ task: 'Count “geese”' });
    const many = Array.from({ length: 1_200 }, (_, n) =>
      newEvent('server', 'stalled', { args: { seconds: n }, message: `ä ${n}` }),
    );
    await server.log.append(session, many);
  });
  afterAll(() => server.close());

  const linesOf = async (query = ''): Promise<string[]> => {
    const answer = await server.fetch(`/api/sessions/${session}/log${query}`);
    expect(answer.headers.get('content-type')).toMatch(/^application\/x-ndjson/);
    return (await answer.text()).trimEnd().split('\n');
  };
  const followed = (lines: readonly string[]): FollowedLog => {
    const log = new FollowedLog(lines[0] ?? '');
    for (const line of lines.slice(1)) log.add(line);
    log.end();
    return log;
  };

  it('is whole, and holds when it is followed without the server', async () => {
    const lines = await linesOf();
    expect(followed(lines).seq).toBe(await server.log.lastSeq(session));
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ session, seq: 1, action: 'start', n: null });
  });

  it('keeps its chain when its contents are hidden', async () => {
    const [shown, hidden] = [await linesOf(), await linesOf('?contents=hidden')];
    expect(hidden.join()).not.toContain('geese');
    expect(followed(hidden).digest).toBe(followed(shown).digest);
    const one = hidden.toSpliced(500, 1, hidden[501] ?? '');
    expect(() => followed(one)).toThrow('Record 500 of the log was changed');
  });

  it('is shown as any other content of the session, to whoever sees it', async () => {
    const token = await server.json<MadeToken>('POST', '/api/tokens', {
      label: 'own',
      scope: 'operate',
      sessions: 'own',
    });
    const path = `/api/sessions/${session}/log`;
    expect(await server.fetch(path, token)).toMatchObject({ status: 404 });
    expect(await server.fetch(`${path}?contents=all`)).toMatchObject({ status: 400 });
    expect(await server.fetch('/api/sessions/none/log')).toMatchObject({ status: 404 });
  });

  it('has its ends listed for whoever keeps them elsewhere, also once the session is gone', async () => {
    const other = await server.session({ task: 'Count ducks' });
    await server.json('POST', `/api/sessions/${other}/stop`);
    await server.reaches(other, 'stopped');
    const heads = (await server.json('GET', '/api/log-heads')) as unknown as NotedHead[];
    const [ended] = heads.filter((one) => one.session === other);
    expect(ended).toMatchObject({ why: 'end', seq: expect.any(Number) as number });
    await server.json('DELETE', `/api/sessions/${other}`);
    const after = (ended?.id ?? 0) - 1;
    const page = await server.fetch(`/api/log-heads?after=${after}&limit=1`);
    expect(await page.json()).toEqual([ended]);
    expect(page.headers.get('link')).toContain(`after=${ended?.id}`);
  });
});
