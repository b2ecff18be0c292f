import { startForge, type PlayedForge } from '@belay/testkit';
import { AuditLog } from '../../access/audit-log.js';
import { ownerCaller } from '../../access/caller.js';
import { GitHosts } from '../../git/git-hosts.js';
import { ForgeSources } from '../forges/forge-sources.js';
import { RunBench } from '../testing/run-bench.js';
import { RepositoryDefinitions } from './repository-definitions.js';

const path = '.belay/automations/nightly.yaml';

describe('definitions in a repository', () => {
  const bench = new RunBench();
  let forge: PlayedForge;

  beforeAll(() => bench.start());
  afterAll(() => bench.close());
  beforeEach(async () => {
    forge = await startForge('github', { repository: 'acme/api' });
    const host = { kind: 'github', private: true, insecure: true, scope: 'admin' } as const;
    await bench.belay.app.get(GitHosts).set(forge.git.host, { ...host, token: forge.token });
    forge.state.addUser('ada', { level: 'write' });
  });
  afterEach(async () => {
    for (const { name } of await bench.automations.list()) await bench.automations.remove(name);
    const { id } = await source();
    await bench.belay.app.get(ForgeSources).disconnect(id);
    await forge.close();
  });

  const text = (part: { task?: string; more?: string; name?: string } = {}) =>
    [
      `name: ${part.name ?? 'nightly'}`,
      "on: {schedule: '30 2 * * *'}",
      'run:',
      `  task: ${part.task ?? 'Tidy up'}`,
      '  model: scripted:x',
      '  budgets: {dollars: 1}',
      part.more ?? '',
    ].join('\n');
  const push = (files: Record<string, string | null>, branch = 'main') =>
    forge.state.push(branch, { by: 'ada', files });
  const look = () => bench.belay.app.get(RepositoryDefinitions).look();
  const source = async () => {
    const found = await bench.belay.app.get(ForgeSources).of(forge.git.host, 'acme/api');
    if (!found) throw new Error('It is not followed.');
    return found;
  };
  const connect = (trustFiles: boolean) =>
    bench.belay.app
      .get(ForgeSources)
      .connect(forge.git.host, 'acme/api', { trustFiles }, ownerCaller);

  it('count once an admin trusts the repository, with each new version of the default branch', async () => {
    push({ [path]: text() });
    await connect(false);
    await look();
    expect(await bench.automations.list()).toEqual([]);
    await connect(true);
    await look();
    const first = await bench.automations.require('nightly');
    expect(first).toMatchObject({ version: 1, state: 'on', owner: 'owner', file: { path } });
    const commit = push({ [path]: text({ task: 'Tidy up well' }) });
    await look();
    const second = await bench.automations.require('nightly');
    expect(second).toMatchObject({ version: 2, file: { path, commit } });
    expect(second.definition.run.task).toBe('Tidy up well');
    push({ [path]: null });
    await look();
    const { entries } = await bench.belay.app.get(AuditLog).page({ limit: 10 });
    const at = `${path} at ${commit.slice(0, 12)}, trusted by Owner`;
    const label = `${forge.git.host}/acme/api`;
    expect(entries.filter(({ api }) => api === 'automation')).toMatchObject([
      {
        label: 'nightly',
        action: 'automations.pause',
        subject: expect.stringContaining('is not on the default branch any more'),
      },
      { label, action: 'automations.edit', subject: `nightly, version 2: ${at}` },
      {
        label,
        action: 'automations.add',
        subject: expect.stringContaining('nightly, version 1: .belay/automations/nightly.yaml at '),
      },
    ]);
  });

  it('do not count on other branches', async () => {
    await connect(true);
    push({ [path]: text() }, 'evil');
    await look();
    expect(await bench.automations.list()).toEqual([]);
    push({ [path]: text() });
    await look();
    expect(await bench.automations.list()).toHaveLength(1);
  });

  it('pause themselves once their file is gone or faulty, and say so at the repository', async () => {
    push({ [path]: text() });
    await connect(true);
    await look();
    push({ [path]: text({ more: 'lane: {busy: wait}' }) });
    await look();
    expect(await bench.automations.require('nightly')).toMatchObject({
      state: 'broken',
      why: expect.stringContaining('is not valid on the default branch'),
    });
    expect((await source()).problem).toMatch(/nightly\.yaml: line 7: .*queue, skip, replace/);
    push({ [path]: text({ task: 'Again' }) });
    await look();
    expect(await bench.automations.require('nightly')).toMatchObject({ state: 'on' });
    expect((await source()).problem).toBeNull();
    push({ [path]: null });
    await look();
    expect(await bench.automations.require('nightly')).toMatchObject({
      state: 'broken',
      why: expect.stringContaining('is not on the default branch any more'),
    });
  });

  it.each([
    ['another repository', 'on', /on\.repository has to be acme\/api/],
    ['what only an admin may give', 'run', /run\.egress may be none or packages/],
    ['much money', 'lane', /lane\.dollarsPerMonth may be at most 100/],
  ])('may not name %s', async (_what, part, sentence) => {
    const parts: Record<string, string> = {
      on: text().replace(
        /on: .*/,
        `on: {host: '${forge.git.host}', repository: acme/other, event: push}`,
      ),
      run: `${text()}  egress: {profile: open, hosts: []}`,
      lane: text({ more: 'lane: {dollarsPerMonth: 1000}' }),
    };
    push({ [path]: parts[part] ?? '' });
    await connect(true);
    await look();
    expect((await source()).problem).toMatch(sentence);
    expect(await bench.automations.list()).toEqual([]);
  });

  it('do not replace an automation of the server', async () => {
    const own = await bench.define({ on: { hand: true } });
    push({ [path]: text({ name: own.name }) });
    await connect(true);
    await look();
    expect(await bench.automations.require(own.name)).toMatchObject({
      version: 1,
      file: null,
    });
    expect((await source()).problem).toContain(path);
  });
});
