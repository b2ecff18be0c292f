import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import {
  actionOutput,
  type ActionInstall,
  type ActionOutput,
  type FoundActions,
  type InstalledAction,
  type McpServer,
} from '@belay/protocol';
import { itLong } from '@belay/testing';
import { gitIn, GitServer, put } from '@belay/testkit';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { GitHosts } from '../git/git-hosts.js';
import { BlobStore } from '../logs/blob-store.js';
import { McpCalls } from '../mcp/mcp-calls.js';
import { McpPrograms } from '../programs/mcp-programs.js';
import type { ContainedProgram } from '../programs/program.js';
import { TestServer } from '../testing/server.js';
import { ActionCalls } from './action-calls.js';
import { filesOfTar, actionTar, type ActionFile } from './action-files.js';
import { ActionImages } from './containers/action-images.js';
import { MemoryImages } from './testing/memory-images.js';
import { toolsProgram } from './testing/tools-program.js';

describe('skills and MCP servers, installed as actions', () => {
  const server = new TestServer();
  const git = new GitServer();
  const memory = new MemoryImages();
  const programs: ContainedProgram[] = [];
  let folder: string;
  let source: string;
  beforeAll(async () => {
    server.replace(ActionImages, memory).replace(McpPrograms, {
      run: async (program) => {
        programs.push(program);
        return toolsProgram(program);
      },
    });
    await Promise.all([server.start(), git.start()]);
    folder = mkdtempSync(join(tmpdir(), 'belay-kinds-'));
    source = join(folder, 'source');
    put(source, 'skills/pdf-forms/SKILL.md', skill('Fills forms.', 'Run scripts/fill.sh.'));
    put(source, 'skills/pdf-forms/scripts/fill.sh', '#!/bin/sh\necho filled\n');
    chmodSync(join(source, 'skills/pdf-forms/scripts/fill.sh'), 0o755);
    put(source, 'skills/pdf-forms/references/fields.md', 'A field has a name.\n');
    put(source, 'skills/short/SKILL.md', skill('Shortens.', 'Leave words out.', 'short'));
    put(source, 'weather/manifest.json', JSON.stringify(weather()));
    put(source, 'weather/server.mjs', '// The tests run one of their own in its place.\n');
    put(source, 'registry/server.json', JSON.stringify(registered));
    gitIn(source, 'init', '-q', '-b', 'main', '--template=');
    commit('first');
    git.publish('me/kinds.git', source);
    await server.app.get(GitHosts).set(git.host, { private: true, insecure: true });
  });
  afterAll(async () => {
    await Promise.all([server.close(), git.close()]);
    rmSync(folder, { recursive: true });
  });
  afterEach(async () => {
    for (const { name } of await list()) await server.json('DELETE', `/api/actions/${name}`);
  });

  function commit(message: string): void {
    gitIn(source, 'add', '-A');
    gitIn(source, 'commit', '-q', '-m', message);
  }
  const list = () => server.json<InstalledAction[]>('GET', '/api/actions');
  const find = () =>
    server.json<FoundActions>('POST', '/api/actions/found', { from: git.url('me/kinds.git') });
  async function install(found: FoundActions, names?: string[]): Promise<ActionInstall> {
    const body = { found: found.id, names };
    let job = await server.json<ActionInstall>('POST', '/api/action-installs', body);
    while (job.state === 'running')
      job = await server.json('GET', `/api/action-installs/${job.id}?after=0&wait=10`);
    return job;
  }
  const sessionOf = (name: string, more: object = {}) =>
    server.session({ approvals: 'auto', actions: [name], ...more });
  let calls = 0;
  async function called(session: string, action: string, args: object = {}): Promise<string> {
    const id = `call-${(calls += 1)}`;
    await server.sandboxes.says(server.log, session, { action, args, id });
    return id;
  }
  const signal = new AbortController().signal;

  it('finds all of them in one repository, each with what it may do', async () => {
    const { actions, faults } = await find();
    expect(faults).toEqual([]);
    expect(actions.map(({ name, kind, folder: where }) => [name, kind, where])).toEqual([
      ['weather', 'mcp', 'weather'],
      ['time-mcp', 'mcp', 'registry'],
      ['short', 'skill', 'skills/short'],
      ['pdf-forms', 'skill', 'skills/pdf-forms'],
    ]);
    const [mine, other, , forms] = actions;
    expect(mine?.changes.added).toContain('Reaches api.weather.example.');
    expect(other?.manifest).toMatchObject({
      packages: { npm: ['@example/time-mcp@1.2.3'] },
      command: expect.arrayContaining(['npx', '@example/time-mcp', '--zone', 'UTC']),
      permissions: {
        secrets: ['TIME_KEY', 'TIME_PROXY'],
        optional_secrets: ['TIME_PROXY'],
        network: [],
      },
      environment: { TIME_FORMAT: 'iso' },
    });
    expect(forms?.changes.added).toEqual([
      expect.stringMatching(/^Guides agents that read it by instructions \([0-9a-f]{12}\)\.$/),
      'Puts 2 files into their sandboxes.',
      'Agents may run its programs, with the rights of their sandboxes: scripts/fill.sh.',
    ]);
  });

  it('gives a skill to those who call it: first its words, then its files', async () => {
    expect(await install(await find(), ['pdf-forms'])).toMatchObject({ state: 'done' });
    expect(memory.made).toEqual([]);
    const session = await sessionOf('pdf-forms');
    const { actions } = await server.log.settings(session);
    expect(actions).toMatchObject([{ name: 'pdf-forms', kind: 'skill' }]);
    expect(JSON.stringify(actions)).not.toContain('Run scripts/fill.sh');
    const run = async (args: object = {}) => {
      const id = await called(session, 'action.pdf-forms', args);
      return actionOutput.parse(await server.app.get(ActionCalls).run(session, id, signal));
    };
    const { text, archive = '' } = await run();
    expect(text).toContain('Run scripts/fill.sh.');
    expect(text).toContain('- scripts/fill.sh (22 bytes, a program)');
    const { bytes } = await server.app.get(BlobStore).getOf(session, archive);
    const files = await filesOfTar(bytes as Buffer);
    expect(files.map(({ path, executable }) => [path, executable])).toEqual([
      ['pdf-forms/SKILL.md', false],
      ['pdf-forms/references/fields.md', false],
      ['pdf-forms/scripts/fill.sh', true],
    ]);
    expect(await run({ file: 'references/fields.md' })).toMatchObject({
      text: 'A field has a name.\n',
    });
    for (const file of ['../../../etc/passwd', '/etc/passwd', 'scripts', 7])
      await expect(run({ file })).rejects.toMatchObject({
        message: expect.stringMatching(/no such file|of type string/),
      });
    const direct = await server.json<ActionOutput>('POST', '/api/actions/pdf-forms/calls', {});
    expect(direct.text).toContain('Run scripts/fill.sh.');
    expect(direct.archive).toBeUndefined();
  });

  it('keeps a skill for sessions as they began, shows an update, and removes all of it', async () => {
    await install(await find(), ['short']);
    const session = await sessionOf('short');
    put(source, 'skills/short/SKILL.md', skill('Shortens.', 'Leave vowels out.', 'short'));
    commit('second');
    gitIn(source, 'push', '-q', join(git.folder, 'me/kinds.git'), '--all');
    const update = await find();
    const offer = update.actions.find(({ name }) => name === 'short');
    expect(offer).toMatchObject({ state: 'other' });
    expect(offer?.changes.added).toHaveLength(1);
    await install(update, ['short']);
    const read = async (id: string) => {
      const call = await called(id, 'action.short');
      return (await server.app.get(ActionCalls).run(id, call, signal)).text;
    };
    expect(await read(session)).toContain('Leave words out.');
    expect(await read(await sessionOf('short'))).toContain('Leave vowels out.');
    await server.json('DELETE', '/api/actions/short');
    await expect(read(session)).rejects.toMatchObject({ code: 'not_found' });
    expect(readdirSync(join(server.data, 'actions'))).toEqual([]);
  });

  itLong('are found by search by MCP clients, where they are many', async () => {
    const many = join(folder, 'many');
    for (let index = 0; index < 20; index++)
      put(many, `form-${index}/SKILL.md`, skill('Fills a form.', 'Fill it.', `form-${index}`));
    put(many, 'release/SKILL.md', skill('How we release a version.', 'Tag it.', 'release'));
    const archive = await actionTar(filesBelow(many), 'skills');
    const found = await server.fetch('/api/actions/uploads?from=many', {
      method: 'POST',
      body: new Uint8Array(archive),
      headers: { 'content-type': 'application/x-tar' },
    });
    await install((await found.json()) as FoundActions);
    const client = await connected(server.token);
    const names = async (one: Client) =>
      (await one.listTools()).tools
        .map(({ name }) => name)
        .filter((name) => name.startsWith('action'));
    expect(await names(client)).toEqual(['actions_search', 'actions_call']);
    const call = async (one: Client, name: string, args: object) =>
      (await one.callTool({ name, arguments: { ...args } })) as CallToolResult;
    const { structuredContent } = await call(client, 'actions_search', { query: 'releasing' });
    expect(structuredContent).toMatchObject({
      searched: 21,
      actions: [{ name: 'action_release', description: expect.stringContaining('How we release') }],
    });
    const read = await call(client, 'actions_call', { name: 'action_release' });
    expect(JSON.stringify(read.content)).toContain('Tag it.');
    expect(await call(client, 'actions_search', {})).toMatchObject({ isError: true });
    const viewer = await connected(server.viewerToken);
    expect(await names(viewer)).toEqual([]);
    await server.json('DELETE', '/api/actions/form-0');
    expect(await names(client)).toHaveLength(20);
    // What is not offered is not a tool.
    for (const one of [client, viewer])
      for (const name of ['actions_search', 'actions_call'])
        await expect(
          call(one, name, { query: 'releasing', name: 'action_release' }),
        ).rejects.toThrow(`There is no tool ${name}.`);
    await Promise.all([client.close(), viewer.close()]);
  });

  async function connected(token: string): Promise<Client> {
    const client = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', server.url), {
      requestInit,
    });
    await client.connect(transport as Parameters<Client['connect']>[0]);
    return client;
  }

  it('runs an MCP server in its image, and gives its tools to sessions', async () => {
    const job = await install(await find(), ['weather']);
    expect(job.state).toBe('done');
    expect(job.lines.join('\n')).toMatch(/\[weather\] Its tools: .*echo/);
    expect(programs.at(-1)).toMatchObject({
      name: 'weather',
      command: 'node',
      args: ['server.mjs'],
      env: { UNITS: 'metric' },
      image: memory.images.at(-1),
      hosts: ['api.weather.example'],
      installed: { memoryMb: 256 },
    });
    expect(await server.json('GET', '/api/checks')).toContainEqual(
      expect.objectContaining({
        name: 'MCP server weather',
        remedy: expect.stringContaining('under Actions → weather'),
      }),
    );
    await server.json('PUT', '/api/actions/weather/secrets/WEATHER_KEY', { value: 'w-123456' });
    expect(programs.at(-1)?.env).toEqual({ UNITS: 'metric', WEATHER_KEY: 'w-123456' });
    const session = await server.session({ approvals: 'auto', mcp: ['weather'] });
    const { mcp } = await server.log.settings(session);
    expect(mcp.find(({ name }) => name === 'echo')).toMatchObject({
      server: 'weather',
      installed: true,
    });
    const id = await called(session, 'mcp.weather.echo', { text: 'hi' });
    expect(await server.app.get(McpCalls).run(session, id, signal)).toEqual({
      text: 'you said hi',
    });
    // Without a session, as an action is called.
    const direct = '/api/actions/weather/tools/echo/calls';
    expect(await server.json('POST', direct, { text: 'you' })).toMatchObject({
      text: 'you said you',
    });
    const client = await connected(server.token);
    const pictured = (await client.callTool({ name: 'mcp_weather_picture' })) as CallToolResult;
    expect(pictured.content.map(({ type }) => type)).toEqual(['text', 'image']);
    const [blob] = Object(pictured.structuredContent).images as string[];
    const resource = await client.readResource({ uri: `belay://calls/blobs/${blob}` });
    expect(resource.contents).toMatchObject([{ mimeType: 'image/png', blob: expect.any(String) }]);
    const picture = await server.fetch(`/api/actions/weather/blobs/${blob}`);
    expect(
      Buffer.from(await picture.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    await client.close();
    const refused = await server.fetch(direct, { method: 'POST', token: server.viewerToken });
    expect([refused.status, await refused.text()]).toEqual([403, expect.any(String)]);
    await server.json('PATCH', '/api/actions/weather', { enabled: false });
    expect(await server.json('POST', direct, {})).toMatchObject({
      status: 404,
      detail: expect.stringContaining('weather no longer has the tool echo'),
    });
    expect(await server.json<McpServer[]>('GET', '/api/mcp')).toMatchObject([
      { name: 'weather', installed: true, state: 'off' },
    ]);
    await server.json('DELETE', '/api/actions/weather');
    expect(await server.json('GET', '/api/mcp')).toEqual([]);
    expect(memory.images).toEqual([]);
  });

  it('starts an MCP server only with the secrets that it requires', async () => {
    const before = programs.length;
    const job = await install(await find(), ['time-mcp']);
    expect(job.lines.join('\n')).toContain('time-mcp needs the secret TIME_KEY, which is not set');
    expect(programs).toHaveLength(before);
    expect(await list()).toMatchObject([
      { state: 'failed', missingSecrets: ['TIME_KEY', 'TIME_PROXY'] },
    ]);
    await server.json('PUT', '/api/actions/time-mcp/secrets/TIME_KEY', { value: 't-123456' });
    expect(programs.at(-1)?.env).toMatchObject({ TIME_KEY: 't-123456' });
    expect(await list()).toMatchObject([{ state: 'ready', error: null }]);
  });

  it('are not given to sessions that began before, which say so', async () => {
    const session = await server.session();
    await install(await find(), ['short']);
    const path = `/api/sessions/${session}/operations/action.short`;
    expect(await server.json('POST', path, {})).toMatchObject({
      status: 404,
      detail: expect.stringContaining('keeps the actions and tools that it began with'),
    });
    const later = await sessionOf('short');
    const called = await server.json('POST', `/api/sessions/${later}/operations/action.short`, {});
    expect(called).not.toMatchObject({ status: 404 });
  });

  itLong('keeps names of installed MCP servers and of those in the settings apart', async () => {
    const transport = { type: 'stdio', command: 'none' };
    await install(await find(), ['weather']);
    for (const [method, path, body] of [
      ['POST', '/api/mcp', { name: 'weather', transport }],
      ['PATCH', '/api/mcp/weather', { enabled: false }],
      ['DELETE', '/api/mcp/weather', undefined],
    ] as const)
      expect(await server.json(method, path, body)).toMatchObject({
        status: 409,
        detail: expect.stringContaining('installed as an action'),
      });
    await server.json('DELETE', '/api/actions/weather');
    await server.json('POST', '/api/mcp', { name: 'weather', transport, enabled: false });
    expect((await install(await find(), ['weather'])).actions).toMatchObject([
      { state: 'failed', error: expect.stringContaining('in the settings') },
    ]);
    await server.json('DELETE', '/api/mcp/weather');
  });
});

const filesBelow = (folder: string): ActionFile[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => ({
      path: relative(folder, join(parentPath, name)),
      executable: false,
      content: readFileSync(join(parentPath, name)),
    }));

const skill = (description: string, body: string, name = 'pdf-forms') =>
  `---\nname: ${name}\ndescription: ${description}\nlicense: MIT\nmetadata:\n  author: me\n---\n\n# ${name}\n\n${body}\n`;

const weather = () => ({
  kind: 'mcp',
  name_for_human: 'Weather',
  name_for_model: 'weather',
  description_for_human: 'The weather.',
  description_for_model: 'The weather of places.',
  command: ['node', 'server.mjs'],
  environment: { UNITS: 'metric' },
  permissions: {
    network: ['api.weather.example'],
    secrets: ['WEATHER_KEY'],
    optional_secrets: ['WEATHER_KEY'],
    memory_mb: 256,
  },
});

const registered = {
  $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  name: 'io.github.example/time-mcp',
  description: 'Tells the time.',
  version: '1.2.3',
  packages: [
    { registryType: 'oci', identifier: 'docker.io/example/time', transport: { type: 'stdio' } },
    {
      registryType: 'npm',
      identifier: '@example/time-mcp',
      version: '1.2.3',
      transport: { type: 'stdio' },
      packageArguments: [{ type: 'named', name: '--zone', value: 'UTC' }],
      environmentVariables: [
        { name: 'TIME_KEY', isSecret: true, isRequired: true },
        { name: 'TIME_FORMAT', default: 'iso' },
        { name: 'TIME_PROXY' },
      ],
    },
  ],
};
