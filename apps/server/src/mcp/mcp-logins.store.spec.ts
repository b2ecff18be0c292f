import type { Documents } from '../storage/documents.js';
import { ExpiringValues } from '../storage/expiring-values.js';
import { alwaysOnEveryDatabase } from '../testing/databases.js';
import { TestLogs } from '../testing/logs.js';
import { connectMcp } from './mcp.client.js';
import { McpLogins } from './mcp-logins.store.js';
import { RotatingServer } from './testing/rotating-server.js';

const loginsOf = (documents: Documents, { database }: TestLogs) =>
  new McpLogins(documents, new ExpiringValues(database, documents), database);

const url = 'https://tools.example/mcp';
const redirect = 'https://belay.example/done';
const tokens = (access_token: string) => ({ access_token, token_type: 'Bearer' });

describe('a login at an MCP server', () => {
  let logs: TestLogs;
  beforeEach(async () => void (logs = await new TestLogs().open()));
  afterEach(() => {
    jest.restoreAllMocks();
    return logs.close();
  });

  const server = async () => {
    const documents = await logs.documents();
    const logins = loginsOf(documents, logs);
    const read: (readonly string[])[] = [];
    logins.onRead((names) => read.push(names));
    return { logins, read, refresh: () => documents.refresh('mcp-logins') };
  };

  it('is used by each server of the database, with the tokens that another one renewed', async () => {
    const [one, other] = [await server(), await server()];
    const begun = one.logins.begin('tools', { url, redirect });
    await begun.saveClientInformation({ client_id: 'a' });
    await begun.saveTokens(tokens('first'));
    expect(other.logins.of('tools', url)).toBeUndefined();
    await other.refresh();
    expect(other.read).toEqual([['tools']]);
    const used = other.logins.of('tools', url);
    expect(used?.tokens()).toEqual(tokens('first'));
    await one.logins.of('tools', url)?.saveTokens(tokens('second'));
    await other.refresh();
    // Its connections go on.
    expect(other.read).toEqual([['tools'], []]);
    expect(used?.tokens()).toEqual(tokens('second'));
    await one.logins.remove('tools');
    await other.refresh();
    expect(other.read).toEqual([['tools'], [], ['tools']]);
  });

  /** As the SDK does; returns the state of the page on which the user logs in. */
  async function begun(logins: McpLogins): Promise<string> {
    const login = logins.begin('tools', { url, redirect });
    await login.saveClientInformation({ client_id: 'a' });
    login.saveCodeVerifier('verifier');
    await login.redirectToAuthorization(new URL('https://login.example/?state='));
    return login.page?.searchParams.get('state') ?? '';
  }

  it('is completed by whichever server is asked, also after a restart', async () => {
    const state = await begun((await server()).logins);
    await logs.reopen();
    const { logins } = await server();
    const { name, provider } = await logins.take(state);
    expect([name, provider.codeVerifier(), provider.redirectUrl]).toEqual([
      'tools',
      'verifier',
      redirect,
    ]);
    expect(provider.clientInformation()).toEqual({ client_id: 'a' });
    await provider.saveTokens(tokens('first'));
    expect(logins.of('tools', url)?.tokens()).toEqual(tokens('first'));
  });

  it('attacks: is completed by nobody with a state that is guessed, used, late or of a removed server', async () => {
    const [one, other] = [await server(), await server()];
    const refused = (state: string) =>
      expect(other.logins.take(state)).rejects.toThrow(
        /finished already, or took too long: connect again under Settings → MCP servers\.$/,
      );
    const honest = await begun(one.logins);
    await refused('');
    await refused(`${honest.slice(0, -1)}!`);
    const both = await Promise.allSettled([one.logins.take(honest), other.logins.take(honest)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    await refused(honest);
    const removed = await begun(one.logins);
    await one.logins.remove('tools');
    await refused(removed);
    const late = await begun(one.logins);
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now + 10 * 60_000 + 1);
    await refused(late);
  });
});

alwaysOnEveryDatabase('a login whose tokens are renewed', (databases) => {
  let logs: TestLogs;
  let remote: RotatingServer;
  beforeEach(async () => {
    logs = await new TestLogs(databases).open();
    remote = await new RotatingServer().start();
  });
  afterEach(async () => {
    remote.close();
    await logs.close();
  });

  it('is renewed once by all that use it at once, and all go on with it', async () => {
    const one = loginsOf(await logs.documents(), logs);
    const at = `${remote.url}/mcp`;
    const begun = one.begin('tools', { url: at, redirect: 'https://belay.example/done' });
    await begun.saveClientInformation({ client_id: 'a' });
    await begun.saveTokens(remote.tokens);
    // SQLite is of one server.
    const isShared = logs.database.kind === 'postgres';
    const other = isShared ? loginsOf(await logs.documents(), logs) : one;
    const { signal } = new AbortController();
    const connections = await Promise.all(
      [one, one, other, other].map((logins) =>
        connectMcp({
          name: 'tools',
          transport: { type: 'http', url: at, headers: {} },
          programs: { run: () => Promise.reject(new Error('no program')) },
          fetch,
          login: logins.of('tools', at),
          signal,
          onToolsChanged: () => undefined,
          onClosed: () => undefined,
        }),
      ),
    );
    remote.expire(connections.length);
    const called = connections.map((connection) => connection.call('do', {}, signal));
    expect((await Promise.all(called)).map(({ content }) => content)).toEqual(
      connections.map(() => [{ type: 'text', text: 'done' }]),
    );
    expect(remote.renewals).toBe(1);
    await Promise.all(connections.map((connection) => connection.close()));
  });
});
