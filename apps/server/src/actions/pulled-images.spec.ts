import { labels, type ContainerHost, type DockerClient, type ProgramSpec } from '@belay/containers';
import { AppError } from '@belay/protocol';
import type { ActionContainers } from './containers/action-containers.js';
import type { ActionRun } from './containers/action-run.js';
import { ActionImages } from './containers/action-images.js';
import { ActionInstaller } from './action-installer.js';
import { ActionRunner } from './action-runner.js';
import { ActionStore } from './action.store.js';
import { findActions } from './find-actions.js';
import { InstalledActions } from './installed-actions.js';
import { InstalledServers } from './installed-servers.js';
import { PulledImages } from './pulled-images.js';
import { actionFiles } from './testing/action-files.js';
import { Config } from '../config.js';
import { ContainerDials } from '../containers/container-dials.js';
import { dockerHostOf } from '../containers/docker-host-of.js';
import { McpLogins } from '../mcp/mcp-logins.store.js';
import { McpServers } from '../mcp/mcp-servers.js';
import { McpStore } from '../mcp/mcp.store.js';
import { ContainedPrograms } from '../programs/contained-programs.js';
import { FakeEngine } from '../testing/fake-engine.js';
import { Documents } from '../storage/documents.js';
import { TestLogs } from '../testing/logs.js';
import { PlayedStarters } from '../testing/played-starters.js';

describe('images that actions pulled', () => {
  const logs = new TestLogs();
  const hosts: ContainerHost[] = [];
  let engine: FakeEngine;
  beforeEach(async () => {
    await logs.open();
    engine = new FakeEngine();
    new PlayedStarters(engine);
    for (const name of ['base:1', 'base:2', 'db:1']) engine.registry.set(name, `sha256:${name}`);
  });
  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.close();
    await logs.close();
  });

  /** As after a start of the server. */
  async function open(env: Record<string, string> = {}) {
    const { BELAY_DATA = logs.config.data } = env;
    const config = new Config({ BELAY_DATA, XDG_RUNTIME_DIR: BELAY_DATA, ...env });
    const documents = await Documents.load(config, logs.database);
    const store = new ActionStore(config, documents);
    const unused = null as never;
    const host = dockerHostOf(config, engine as unknown as DockerClient);
    hosts.push(host);
    const programs = new ContainedPrograms(host, new ContainerDials(host));
    const images = new ActionImages(config, host, programs, unused);
    const mcpStore = new McpStore(documents);
    const mcp = new McpServers(
      config,
      mcpStore,
      new McpLogins(documents, unused, logs.database),
      unused,
    );
    const servers = new InstalledServers(store, mcp);
    const installed = new InstalledActions(store, servers);
    const pulled = new PulledImages(config, store, images, mcp, logs.log, documents);
    const installer = new ActionInstaller(store, images, installed, servers, pulled);
    const containers: { start?: (run: ActionRun) => Promise<never> } = {};
    const runner = new ActionRunner(
      installed,
      containers as unknown as ActionContainers,
      unused,
      unused,
      pulled,
      installer,
    );
    const install = async (name: string, manifest: object) => {
      const files = actionFiles({ name_for_model: name, ...manifest });
      const [found] = findActions(files).actions;
      if (!found) throw new Error('There is no action.');
      const source = { from: '/here', version: null, commit: null, folder: '' };
      const { signal } = new AbortController();
      return installer.install(found, source, { onLine: () => {}, signal });
    };
    const restarted = async () => {
      const next = await open(env);
      next.installer.onLead();
      await next.installer.beforeApplicationShutdown();
      return open(env);
    };
    return {
      installer,
      install,
      installed,
      pulled,
      containers,
      programs,
      runner,
      mcpStore,
      restarted,
    };
  }
  /** A call of an action, with its service. */
  const callOf = (action: string): ProgramSpec => ({
    id: 'call',
    label: action,
    labels: { [labels.action]: action },
    image: 'sha256:1',
    rights: 'program',
    user: 1000,
    limits: { memoryMb: 64, cpus: 1 },
    scratch: [],
    workspace: null,
    folders: [],
    services: [
      { name: 'db', image: 'db:1', command: undefined, env: {}, limits: { memoryMb: 64, cpus: 1 } },
    ],
    archive: null,
    writtenMb: 64,
  });
  const there = () => [...engine.pulled.keys()];

  it('go with the last action that names them, also after a restart', async () => {
    const first = await open();
    await Promise.all(['one', 'two'].map((name) => first.install(name, { base_image: 'base:1' })));
    expect(there()).toEqual(['base:1']);
    const { installer } = await first.restarted();
    await installer.remove('one');
    expect(there()).toEqual(['base:1']);
    await installer.remove('two');
    expect(there()).toEqual([]);
  });

  it('are not those that were there before, nor another one of that name', async () => {
    engine.pulled.set('base:1', 'sha256:base:1');
    const { install, installer } = await open();
    await install('one', { base_image: 'base:1' });
    await install('two', { base_image: 'base:2' });
    engine.pulled.set('base:2', 'sha256:newer');
    await installer.remove('one');
    await installer.remove('two');
    expect(there()).toEqual(['base:1', 'base:2']);
  });

  it('go when an install fails, and when an update has another base', async () => {
    const { install } = await open();
    engine.fail('commit');
    await expect(install('one', { base_image: 'base:1' })).rejects.toThrow('does not respond');
    expect(there()).toEqual([]);
    await install('one', { base_image: 'base:1' });
    await install('one', { base_image: 'base:2' });
    expect(there()).toEqual(['base:2']);
  });

  it('of a killed install go at the next start', async () => {
    const { install, restarted } = await open();
    const never = engine.hold('commit');
    void install('one', { base_image: 'base:1' });
    await never.reached;
    for (const id of engine.containers.keys()) await engine.remove(id);
    await restarted();
    expect(there()).toEqual([]);
  });

  it('stay for an install that is under way while another action is removed', async () => {
    const { install, installer } = await open();
    await install('one', { base_image: 'base:1' });
    const held = engine.hold('commit');
    const second = install('two', { base_image: 'base:1', services: { db } });
    await held.reached;
    const removal = installer.remove('one');
    held.release();
    await Promise.all([second, removal]);
    expect(there()).toEqual(['base:1']);
  });

  it('stay with a container that uses them, until a later start', async () => {
    const { install, installer, restarted } = await open();
    await install('one', { base_image: 'base:1' });
    const container = await engine.create({ Image: 'base:1' });
    await installer.remove('one');
    expect(there()).toEqual(['base:1']);
    await engine.remove(container);
    await restarted();
    expect(there()).toEqual([]);
  });

  it('stay while the engine does not answer, without a failure', async () => {
    const { install, installer, restarted } = await open();
    await install('one', { base_image: 'base:1' });
    engine.fail('untagImage');
    await installer.remove('one');
    expect(there()).toEqual(['base:1']);
    await restarted();
    expect(there()).toEqual([]);
  });

  it('stay for sandboxes and MCP servers that have them', async () => {
    await logs.session('s', { image: 'base:1' });
    const { install, installer, mcpStore } = await open({ BELAY_SIDECAR: 'base:2' });
    const transport = {
      type: 'stdio' as const,
      command: 'serve',
      args: [],
      env: {},
      host: false,
      image: 'db:1',
      folder: null,
      hosts: [],
    };
    await mcpStore.add({ name: 'db', enabled: false, tools: null, transport });
    for (const image of ['base:1', 'base:2', 'db:1']) {
      await install('one', { base_image: image });
      await installer.remove('one');
    }
    expect(there()).toEqual(['base:1', 'base:2', 'db:1']);
    await logs.log.remove('s');
    await mcpStore.remove('db');
    await install('one', {});
    expect(there()).toEqual(['base:2']);
  });

  it('of services go with their action, also when it is removed during a call', async () => {
    const { install, installed, installer, containers, programs, runner } = await open();
    await install('one', { services: { db } });
    const [action] = installed.forSession(['one']);
    if (!action) throw new Error('It is not offered.');
    const pull = async (onPulled: (image: { name: string; id: string }) => Promise<void>) => {
      const [name, id] = ['db:1', 'sha256:db:1'];
      engine.pulled.set(name, id);
      await onPulled({ name, id });
    };
    const failed = new AppError('tool_failed', 'Its container is gone.');
    const call = () =>
      runner.run({ action, input: {}, session: null, signal: new AbortController().signal });
    containers.start = async ({ onPulled }) => {
      await pull(onPulled);
      throw failed;
    };
    await expect(call()).rejects.toBe(failed);
    expect(there()).toEqual(['db:1']);
    const services = { connect: () => Promise.reject(new Error('It connects to nothing.')) };
    await programs.open(callOf('one'), services, new AbortController().signal);
    await installer.remove('one');
    expect(there()).toEqual([]);

    await install('one', { services: { db } });
    containers.start = async ({ onPulled }) => {
      await installer.remove('one');
      await pull(onPulled);
      throw failed;
    };
    await expect(call()).rejects.toBe(failed);
    await installer.beforeApplicationShutdown();
    expect(there()).toEqual([]);
  });
});

const db = { image: 'db:1', port: 5432 };
