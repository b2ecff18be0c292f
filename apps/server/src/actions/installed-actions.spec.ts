import { readdirSync } from 'node:fs';
import { staysTrue } from '@belay/testing';
import { McpLogins } from '../mcp/mcp-logins.store.js';
import { McpServers } from '../mcp/mcp-servers.js';
import { McpStore } from '../mcp/mcp.store.js';
import type { ActionImages } from './containers/action-images.js';
import { ActionInstaller } from './action-installer.js';
import { ActionStore } from './action.store.js';
import { findActions } from './find-actions.js';
import { InstalledActions } from './installed-actions.js';
import { InstalledServers } from './installed-servers.js';
import { PulledImages } from './pulled-images.js';
import { TestLogs } from '../testing/logs.js';
import { actionFiles } from './testing/action-files.js';
import { MemoryImages } from './testing/memory-images.js';

describe('installed actions', () => {
  const logs = new TestLogs();
  let memory: MemoryImages;
  beforeEach(async () => {
    await logs.open();
    memory = new MemoryImages();
  });
  afterEach(() => logs.close());

  async function open() {
    const { config } = logs;
    const documents = await logs.documents();
    const store = new ActionStore(config, documents);
    const maker = memory as unknown as ActionImages;
    const unused = null as never;
    const mcp = new McpServers(
      config,
      new McpStore(documents),
      new McpLogins(documents, unused, logs.database),
      unused,
    );
    const servers = new InstalledServers(store, mcp);
    const actions = new InstalledActions(store, servers);
    const pulled = new PulledImages(config, store, maker, mcp, unused, documents);
    const installer = new ActionInstaller(store, maker, actions, servers, pulled);
    const install = async (manifest: object = {}) => {
      const [found] = findActions(actionFiles(manifest)).actions;
      if (!found) throw new Error('There is no action.');
      const source = { from: '/here', version: null, commit: null, folder: '' };
      const signal = new AbortController().signal;
      return installer.install(found, source, { onLine: () => {}, signal });
    };
    return { actions, installer, install, store };
  }

  it('are offered to sessions as they were installed, after a restart, too', async () => {
    const first = await open();
    await first.install({ permissions: { secrets: ['API_KEY'] } });
    const { actions, store } = await open();
    expect(actions.known('shout')).toMatchObject({
      kind: 'action',
      enabled: true,
      state: 'ready',
      missingSecrets: ['API_KEY'],
    });
    const [offered] = actions.forSession(undefined);
    expect(offered).toMatchObject({ name: 'shout', title: 'Shout', image: 'sha256:1' });
    expect(offered?.inputSchema).toMatchObject({ properties: { args: { type: 'array' } } });
    const program = () => actions.programOf('shout', 'sha256:1');
    expect(program).toThrow('shout needs the secret API_KEY, which is not set.');
    await store.setSecret('shout', 'API_KEY', 'k-1');
    expect(program()).toMatchObject({ command: ['/action/run'] });
  });

  it('are those that are enabled, or those that a session names', async () => {
    const { actions, installer, install } = await open();
    await install();
    await installer.enable('shout', false);
    expect(actions.forSession(undefined)).toEqual([]);
    expect(actions.forSession(['shout', 'shout'])).toHaveLength(1);
    expect(() => actions.forSession(['unknown'])).toThrow('There is no action unknown');
    expect(() => actions.forSession(['constructor'])).toThrow('There is no action constructor');
  });

  it('get the secrets that they declare, and no others', async () => {
    const { actions, install, store } = await open();
    await install({ permissions: { secrets: ['API_KEY'] } });
    await store.setSecret('shout', 'API_KEY', 'k-1');
    await store.setSecret('shout', 'OTHER', 'k-2');
    expect(actions.secretsOf('shout')).toEqual({ API_KEY: 'k-1' });
    expect(actions.known('shout').missingSecrets).toEqual([]);
    expect(JSON.stringify(actions.list())).not.toContain('k-1');
  });

  it('keep the image of an earlier version until they are removed, and then leave nothing', async () => {
    const { actions, installer, install, store } = await open();
    await install({ permissions: { secrets: ['API_KEY'] } });
    await store.setSecret('shout', 'API_KEY', 'k-1');
    await install({ description_for_model: 'Shouts louder.' });
    expect(actions.forSession(undefined)[0]?.image).toBe('sha256:2');
    expect(actions.programOf('shout', 'sha256:1').image).toBe('sha256:1');
    for (let version = 3; version < 8; version++) await install({ logo_url: `${version}` });
    expect(memory.images).toEqual(['sha256:4', 'sha256:5', 'sha256:6', 'sha256:7']);
    expect(() => actions.programOf('shout', 'sha256:1')).toThrow('Start a new session');
    await installer.remove('shout');
    expect([memory.images, readdirSync(store.folder), actions.list()]).toEqual([[], [], []]);
    await install({ permissions: { secrets: ['API_KEY'] } });
    expect(actions.secretsOf('shout')).toEqual({});
  });

  it('are cleaned up before the server has ended', async () => {
    const { installer } = await open();
    const cleaning = Promise.withResolvers<void>();
    memory.keepOnly = () => cleaning.promise;
    installer.onLead();
    let hasEnded = false;
    const ended = installer.beforeApplicationShutdown().then(() => (hasEnded = true));
    await staysTrue('it waits', 50, () => !hasEnded);
    cleaning.resolve();
    await ended;
  });

  it('leave no image of an install that was killed', async () => {
    await (await open()).install();
    memory.images.push('sha256:half-made');
    const { installer } = await open();
    installer.onLead();
    await installer.enable('shout', true);
    expect(memory.images).toEqual(['sha256:1']);
  });
});
