import type { McpPrograms } from '../programs/mcp-programs.js';
import { ExpiringValues } from '../storage/expiring-values.js';
import { TestLogs } from '../testing/logs.js';
import type { McpConfig } from './mcp-config.js';
import { McpLogins } from './mcp-logins.store.js';
import { McpServers } from './mcp-servers.js';
import { McpStore } from './mcp.store.js';

const logs = new TestLogs();
afterAll(() => logs.close());

it('follow what another server changes in the settings', async () => {
  await logs.open();
  const [own, others] = [await logs.documents(), await logs.documents()];
  const unused = {} as McpPrograms;
  const logins = new McpLogins(own, new ExpiringValues(logs.database, own), logs.database);
  const servers = new McpServers(logs.config, new McpStore(own), logins, unused);
  const other = new McpStore(others);
  servers.onWork();
  const far: McpConfig = {
    name: 'far',
    transport: { type: 'http', url: 'http://127.0.0.1:9/mcp', headers: {} },
    enabled: true,
    tools: null,
  };
  const states = async () => {
    await own.refresh('mcp');
    return servers.list().map(({ state }) => state === 'off');
  };
  await other.add(far);
  expect(await states()).toEqual([false]);
  await other.change('far', { enabled: false });
  expect(await states()).toEqual([true]);
  await other.remove('far');
  expect(await states()).toEqual([]);
  await servers.onApplicationShutdown();
});
