import { TestLogs } from '../testing/logs.js';
import { McpLogins } from './mcp-logins.store.js';

const url = 'https://tools.example/mcp';
const tokens = (access_token: string) => ({ access_token, token_type: 'Bearer' });

describe('a login at an MCP server', () => {
  let logs: TestLogs;
  beforeEach(async () => void (logs = await new TestLogs().open()));
  afterEach(() => logs.close());

  const server = async () => {
    const documents = await logs.documents();
    const logins = new McpLogins(documents);
    const read: (readonly string[])[] = [];
    logins.onRead((names) => read.push(names));
    return { logins, read, refresh: () => documents.refresh('mcp-logins') };
  };

  it('is used by each server of the database, with the tokens that another one renewed', async () => {
    const [one, other] = [await server(), await server()];
    const begun = one.logins.begin('tools', { url, redirect: 'https://belay.example/done' });
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

  it('that was begun on another server says what to do', async () => {
    const [one, other] = [await server(), await server()];
    const state = one.logins
      .begin('tools', { url, redirect: 'https://belay.example/done' })
      .state();
    expect(() => other.logins.take(state)).toThrow(
      /another one took over: connect again under Settings → MCP servers\.$/,
    );
  });
});
