import { ownerCaller } from '../../access/caller.js';
import { InstalledActions } from '../../actions/installed-actions.js';
import { SessionAgents } from '../../agents/session-agents.js';
import { GitHosts } from '../../git/git-hosts.js';
import { McpServers } from '../../mcp/mcp-servers.js';
import { ModelGateway } from '../../models/model-gateway.js';
import { TemplatesStore } from '../../settings/templates.store.js';
import { TestServer } from '../../testing/server.js';
import { Clock } from '../clock.js';
import { automationJobs } from '../jobs/automation-jobs.js';
import { DefinitionChecks } from './definition-checks.js';
import { DefinitionReader } from './definition-reader.js';
import { definitionYaml } from './definition-yaml.js';

const honest = `
name: fix-ci
on: {host: github.com, repository: acme/api, event: checks.failed, where: "branch startsWith 'belay/'"}
trust: {self: true}
run:
  task: Fix it.
  budgets: {dollars: 2, seconds: 1800}
  check: npm test
lane:
  key: pr:{number}
  busy: skip
out: {push: {branch: same}, comment: {}}
`;

const server = new TestServer({ realModels: true });
let reader: DefinitionReader;

beforeAll(async () => {
  await server.start({ OPENAI_API_KEY: 'key' });
  const { app } = server;
  await server.json('PUT', '/api/git/hosts/github.com', { kind: 'github', token: 'token' });
  await server.json('PUT', '/api/git/hosts/plain.internal', { kind: 'other', token: 'token' });
  await server.json('PUT', '/api/git/hosts/gitlab.com', { kind: 'gitlab' });
  await server.json('PUT', '/api/templates/daily', { task: 'Do it.' });
  await server.json('PUT', '/api/templates/priced', { task: 'Do it.', model: 'openai:unknown' });
  const checks = new DefinitionChecks(
    app.get(TemplatesStore),
    app.get(ModelGateway),
    app.get(SessionAgents),
    app.get(GitHosts),
    app.get(McpServers),
    app.get(InstalledActions),
  );
  reader = new DefinitionReader(checks, new Clock());
}, 30_000);
afterAll(() => server.close());

/** The problems as people see them. */
async function problemsOf(text: string): Promise<string[]> {
  const { definition, problems } = await reader.read(text, 'fix-ci.yaml');
  expect(definition === undefined).toBe(problems.length > 0);
  return problems.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`);
}

const changed = (from: string, to: string): string => {
  expect(honest).toContain(from);
  return honest.replace(from, to);
};

describe('the text of a definition', () => {
  it('is read as YAML or JSON', async () => {
    const { definition, problems, warnings } = await reader.read(honest, 'fix-ci.yaml');
    expect(problems).toEqual([]);
    expect(warnings).toEqual(['run.model is not named: the first model that is ready is used.']);
    expect(definition).toMatchObject({
      name: 'fix-ci',
      lane: { busy: 'skip', key: 'pr:{number}' },
    });
    const json = JSON.stringify(definition, null, '\t');
    expect((await reader.read(json, 'fix-ci.json')).definition).toEqual(definition);
  });

  it.each([
    [
      'a wrong word',
      ['busy: skip', 'busy: wait'],
      '11:9 lane.busy: “wait” is not one of queue, skip, replace',
    ],
    [
      'an unknown key',
      ['busy: skip', 'busi: skip'],
      '11:3 lane.busi: is unknown; did you mean busy?',
    ],
    ['a missing key', ['  task: Fix it.\n', ''], '5:1 run: name a task or a template'],
    [
      'an unknown field',
      ['branch starts', 'title starts'],
      /^3:\d+ on.where: character 1: checks.failed has no field title; it has branch/,
    ],
    ['a key twice', ['busy: skip', 'key: a'], '11:3 : Map keys must be unique'],
    [
      'an alias',
      ['trust: {self: true}', 'trust: &a {self: true}\nproof: *a'],
      '5:8 : aliases are not supported: write it out',
    ],
    ['a merge key', ['busy: skip', '<<: {busy: skip}'], /^11:3 lane.<<: is unknown/],
    ['a tag', ['busy: skip', 'busy: !!js/function skip'], /^11:9 : Unresolved tag/],
    ['another document', ['trust:', '---\ntrust:'], /multiple documents/],
    ['broken YAML', ['trust: {self: true}', 'trust: {self: true'], /^5:1 : /],
  ])('is refused for %s', async (_, [from = '', to = ''], wanted) => {
    const [first] = await problemsOf(changed(from, to));
    if (typeof wanted === 'string') expect(first).toBe(wanted);
    else expect(first).toMatch(wanted);
  });

  it('is refused whole, if it is too large, too deep or nothing', async () => {
    expect(await problemsOf(`${honest}#${'x'.repeat(65_536)}`)).toEqual([
      'null:null : it is larger than 64 KiB',
    ]);
    for (const deep of ['['.repeat(60_000), '{a: '.repeat(15_000), '- '.repeat(30_000)])
      expect(await problemsOf(deep)).not.toEqual([]);
    expect(await problemsOf('')).toEqual([expect.stringContaining('a definition is an object')]);
    expect(await problemsOf('text')).toEqual(['1:1 : a definition is an object']);
  });
});

describe('a definition on this server', () => {
  const ofTime = (on: string, more = ''): string =>
    `{name: a, on: {${on}}, run: {task: x, budgets: {dollars: 1}}${more}}`;

  it.each([
    [
      'a template',
      ['task: Fix it.', 'template: weekly'],
      /^6:13 run.template: Owner has no task template weekly/,
    ],
    [
      'a model',
      ['task: Fix it.', 'task: Fix it.\n  model: openai:x'],
      /run.model: The price of openai:x is not known/,
    ],
    [
      'a key of a provider',
      ['task: Fix it.', 'task: Fix it.\n  model: anthropic:claude-sonnet-5-5'],
      /run.model: /,
    ],
    [
      'the price of a template’s model',
      ['task: Fix it.', 'template: priced'],
      /run.template: The price of openai:unknown/,
    ],
    [
      'an agent',
      ['task: Fix it.', 'task: Fix it.\n  agent: {name: gone}'],
      /run.agent.name: there is no agent gone/,
    ],
    [
      'a sign-in',
      ['task: Fix it.', 'task: Fix it.\n  agent: {name: claude-code, login: true}'],
      /run.agent.login: /,
    ],
    [
      'a host',
      ['github.com', 'git.acme.dev'],
      /^3:12 on.host: there is no git host git.acme.dev: add it with a token/,
    ],
    ['a token', ['github.com', 'gitlab'], /on.host: gitlab.com has no token/],
    ['an API', ['github.com', 'plain.internal'], /on.host: plain.internal is of the kind other/],
    [
      'an MCP server',
      ['check: npm test', 'mcp: [gone]'],
      /^8:9 run.mcp\[0\]: there is no MCP server gone/,
    ],
    [
      'an action',
      ['check: npm test', 'actions: [gone]'],
      /run.actions\[0\]: there is no action gone/,
    ],
  ])('needs %s', async (_, [from = '', to = ''], wanted) => {
    const [first] = await problemsOf(changed(from, to));
    expect(first).toMatch(wanted);
  });

  it('takes what is there', async () => {
    expect(await problemsOf(changed('task: Fix it.', 'template: daily'))).toEqual([]);
    for (const model of ['openai:gpt-5-mini', 'openai:x?price=0.5/2', 'scripted:example:nothing'])
      expect(
        await problemsOf(changed('task: Fix it.', `task: Fix it.\n  model: ${model}`)),
      ).toEqual(model.startsWith('scripted') ? [expect.stringContaining('run.model')] : []);
    const file = changed('task: Fix it.', 'task: Fix it.\n  model: scripted:/tmp/x.yaml');
    expect(await problemsOf(file)).toEqual([expect.stringContaining('Only an admin may name')]);
    const tokens = changed('{dollars: 2, seconds: 1800}', '{tokens: 1000}\n  model: openai:x');
    expect(await problemsOf(tokens)).toEqual([]);
  });

  it.each([
    [`schedule: '*/4 * * * *'`, /on.schedule: it comes every 4 minutes: leave at least 5/],
    [`schedule: '0 0 31 2 *'`, /on.schedule: it never comes/],
    [`schedule: '61 0 * * *'`, /on.schedule: “61” is not a minute/],
    [`schedule: '@daily'`, /on.schedule: a schedule has five fields/],
    [`hand: true, repository: 'git@github.com:a/b'`, /on.repository: .* ssh is not supported/],
  ])('refuses %s', async (on, wanted) => {
    const [first] = await problemsOf(ofTime(on));
    expect(first).toMatch(wanted);
  });

  it('opens pull requests only where it has a token', async () => {
    const at = (host: string) =>
      problemsOf(
        ofTime(
          `schedule: '*/5 * * * *', repository: 'https://${host}/a/b'`,
          ', out: {pullRequest: {}}',
        ),
      );
    expect(await at('github.com')).toEqual([]);
    expect(await at('gitlab.com')).toEqual([
      expect.stringContaining('on.repository: pull requests need a token for gitlab.com'),
    ]);
  });
});

describe('the jobs that are shipped', () => {
  it.each(automationJobs().map((job) => [job.name, job] as const))('%s', async (name, { text }) => {
    expect(await problemsOf(text)).toEqual([]);
    const { definition, warnings } = await reader.read(text, `${name}.yaml`, ownerCaller);
    expect(definition?.name).toBe(name);
    // The check and the model are for whoever uses it to name.
    expect(
      warnings.filter((warning) => !/^run\.(?:model|check) is not named/.test(warning)),
    ).toEqual([]);
    if (!definition) throw new Error('There is no definition.');
    const again = await reader.read(definitionYaml(definition), 'again.yaml');
    expect(again.definition).toEqual(definition);
  });
});
