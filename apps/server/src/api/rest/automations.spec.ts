import {
  automationRoutes,
  routeName,
  type AuditPage,
  type MadeToken,
  type Route,
} from '@belay/protocol';
import { startForge } from '@belay/testkit';
import { ownerCaller, type Caller } from '../../access/caller.js';
import { AutomationChanges } from '../../automations/automation-changes.js';
import { AutomationCounts } from '../../automations/automation-counts.js';
import { AutomationViews } from '../../automations/automation-views.js';
import { Clock } from '../../automations/clock.js';
import { AutomationsStore } from '../../automations/definitions/automations.store.js';
import { RunsStore } from '../../automations/runs/runs.store.js';
import { Database } from '../../storage/database.js';
import { plantAutomation, plantedAutomation } from '../../testing/planted-automation.js';
import { TestServer } from '../../testing/server.js';

const nightly = `
name: nightly
on: {schedule: 30 2 * * 1-5, zone: Europe/Berlin}
run: {task: Update the figures., budgets: {dollars: 1}}
`;

const listed = (name: string, dollars: number): string =>
  `name: ${name}\non: {hand: true}\nrun: {task: x, budgets: {dollars: ${dollars}}}`;

describe('automations over REST', () => {
  const server = new TestServer();
  let own: string;
  let other: string;

  beforeAll(async () => {
    await server.start();
    own = await server.session();
    other = await server.session();
    await plantAutomation(server, 'planted', own);
  });
  afterAll(() => server.close());

  const add = (text: string) => server.json('POST', '/api/automations', { text });
  const explain = (token: string) =>
    server.fetch(`/api/automation-runs/${plantedAutomation.run}`, { token });
  const tokenFor = async (session: string): Promise<string> => {
    const wanted = { label: 'x', scope: 'operate', sessions: [session] };
    return (await server.json<MadeToken>('POST', '/api/tokens', wanted)).token;
  };

  it('are added, changed, paused and removed', async () => {
    expect(await add(nightly)).toMatchObject({ status: 201, name: 'nightly', version: 1 });
    expect(await add(nightly)).toMatchObject({ code: 'conflict' });
    const path = '/api/automations/nightly';
    const text = nightly.replace('dollars: 1', 'dollars: 2');
    expect(await server.json('PUT', path, { text })).toMatchObject({
      version: 2,
      definition: { run: { budgets: { dollars: 2 } } },
    });
    const renamed = text.replace('nightly', 'daily');
    expect(await server.json('PUT', path, { text: renamed })).toMatchObject({
      code: 'invalid_input',
    });
    expect(await server.json('POST', `${path}/pause`)).toMatchObject({ state: 'paused' });
    expect(await server.json('POST', `${path}/resume`)).toMatchObject({ state: 'on', why: null });
    expect(await server.json('GET', `${path}/versions`)).toMatchObject([
      { version: 2, by: 'owner' },
      { version: 1, by: 'owner' },
    ]);
    const yaml = await server.fetch(`${path}/yaml`);
    expect(yaml.headers.get('content-type')).toContain('application/yaml');
    expect(await yaml.text()).toContain('dollars: 2');
    expect(await server.json('DELETE', path)).toMatchObject({ status: 204 });
    expect(await server.json('GET', path)).toMatchObject({ code: 'not_found' });
  });

  it('are checked without being saved', async () => {
    const checked = await server.json('POST', '/api/automations/check', { text: nightly });
    expect(checked).toMatchObject({
      problems: [],
      schedule: 'at 02:30 from Monday to Friday (Europe/Berlin)',
    });
    expect(checked['next']).toHaveLength(10);
    const wrong = nightly.replace('dollars: 1', 'dollars: none');
    const refused = await server.json('POST', '/api/automations/check', { text: wrong });
    expect(refused).toMatchObject({ problems: [{ path: 'run.budgets.dollars' }] });
    expect(await add(wrong)).toMatchObject({ status: 400, code: 'invalid_input' });
    expect(await server.json('GET', '/api/automations')).toHaveLength(1);
  });

  it('show what their runs came to, and what they cost this month', async () => {
    const list = await server.json('GET', '/api/automations');
    expect(list).toMatchObject([
      {
        name: plantedAutomation.name,
        latest: [{ id: plantedAutomation.run, state: 'done', session: own }],
        waiting: 0,
        dollarsThisMonth: 0.25,
      },
    ]);
    const path = `/api/automations/${plantedAutomation.name}`;
    expect(await server.json('GET', `${path}/runs?limit=1`)).toMatchObject([
      { id: plantedAutomation.run, automation: plantedAutomation.name, dollars: 0.25 },
    ]);
    expect(await server.json('GET', `${path}/lanes`)).toMatchObject([
      { key: 'planted', running: plantedAutomation.run, stuck: 'planted' },
    ]);
    expect(await server.json('GET', `/api/sessions/${own}/automation`)).toMatchObject({
      run: { id: plantedAutomation.run },
    });
    const none = await server.fetch(`/api/sessions/${other}/automation`);
    expect(await none.json()).toBeNull();
  });

  it('are listed by as many queries as there were for fewer, also with runs of earlier versions', async () => {
    const { kysely } = server.app.get(Database);
    const queries = jest.spyOn(kysely.getExecutor(), 'executeQuery');
    const counted = async () => {
      queries.mockClear();
      const list = await server.app.get(AutomationViews).list();
      return { queries: queries.mock.calls.length, names: list.map(({ name }) => name) };
    };
    const names = ['one', 'two', 'three'];
    for (const name of names) await add(listed(name, 1));
    await counted();
    const before = await counted();
    const more = ['four', 'five', 'six', 'seven'];
    for (const name of more) {
      await add(listed(name, 1));
      for (const dollars of [2, 3]) {
        await server.json('POST', `/api/automations/${name}/run`, { dry: true });
        const text = listed(name, dollars);
        await server.json('PUT', `/api/automations/${name}`, { text });
      }
    }
    const after = await counted();
    expect(after.names).toEqual([...before.names, ...more].toSorted());
    expect(after.queries).toBe(before.queries);
    // As a new server, which knows no definition of an earlier version: the runs, the automations, the definitions.
    const automations = server.app.get(AutomationsStore);
    const stored = [
      server.app.get(Database),
      automations,
      new Clock(),
      new AutomationCounts(),
    ] as const;
    const ids = (await automations.list()).map(({ id }) => id);
    queries.mockClear();
    const latest = await new RunsStore(...stored).latestOf(ids, 10);
    expect(queries).toHaveBeenCalledTimes(3);
    expect([...latest.values()].flat()).toHaveLength(more.length * 2 + 1);
    const list = await server.app.get(AutomationViews).list();
    expect(list.find(({ name }) => name === 'seven')).toMatchObject({
      version: 3,
      latest: [{ version: 2 }, { version: 1 }],
    });
    queries.mockRestore();
    for (const name of [...names, ...more]) await server.json('DELETE', `/api/automations/${name}`);
  });

  it('explain a run to those who see its session, and to nobody else', async () => {
    const seen = await explain(await tokenFor(own));
    expect(await seen.json()).toMatchObject({
      run: { id: plantedAutomation.run },
      outgoing: [{ kind: 'comment', state: 'sent' }],
    });
    expect((await explain(server.viewerToken)).status).toBe(200);
    expect((await explain(await tokenFor(other))).status).toBe(404);
  });

  it('have each change by a user in the audit log, with what it is about', async () => {
    const forge = await startForge('gitea', { repository: 'acme/api' });
    const { host } = forge.git;
    const access = { private: true, insecure: true, kind: 'gitea', token: forge.token };
    await server.json('PUT', `/api/git/hosts/${host}`, access);
    const path = '/api/automations/audited';
    const text = 'name: audited\non: {url: true}\nrun: {task: x, budgets: {dollars: 1}}';
    await server.json('POST', '/api/automations', { text });
    await server.json('POST', '/api/automations', { text });
    await server.json('PUT', path, { text: text.replace('dollars: 1', 'dollars: 2') });
    await server.json('POST', `${path}/pause`);
    await server.json('POST', `${path}/resume`);
    await server.json('POST', `${path}/secret`);
    const { run } = await server.json<{ run: { id: string } }>('POST', `${path}/run`, {
      dry: true,
    });
    await server.json('POST', `/api/automation-runs/${run.id}/cancel`);
    await server.json('POST', `${path}/lanes/reset`, { key: 'planted' });
    const repository = { host, repository: 'acme/api' };
    const { id } = await server.json<{ id: string }>('POST', '/api/automation-sources', {
      ...repository,
      trustFiles: true,
    });
    await server.json('POST', '/api/automation-sources', { ...repository, trustFiles: false });
    await server.json('POST', '/api/automation-sources', repository);
    await server.json('DELETE', `/api/automation-sources/${id}`);
    await server.json('DELETE', `/api/automation-sources/${id}`);
    await server.json('DELETE', path);
    await forge.close();
    const { entries } = await server.json<AuditPage>('GET', '/api/audit?limit=16');
    expect(
      entries
        .toReversed()
        .filter(({ action }) => action.startsWith('automations.'))
        .map(({ caller, api, action, subject, outcome }) => [
          `${caller} ${api} ${action} ${outcome}`,
          subject,
        ]),
    ).toEqual([
      ['owner rest automations.add ok', 'audited, version 1'],
      ['owner rest automations.add conflict', ''],
      ['owner rest automations.edit ok', 'audited, version 2'],
      ['owner rest automations.pause ok', 'audited'],
      ['owner rest automations.resume ok', 'audited'],
      ['owner rest automations.secret ok', 'audited'],
      ['owner rest automations.run ok', `audited ${run.id}, only decided`],
      ['owner rest automations.cancel conflict', run.id],
      ['owner rest automations.resetLane not_found', 'audited planted'],
      ['owner rest automations.connect ok', `${host}/acme/api, its definitions are trusted`],
      ['owner rest automations.connect ok', `${host}/acme/api, its definitions are not`],
      ['owner rest automations.connect ok', `${host}/acme/api`],
      ['owner rest automations.disconnect ok', `${host}/acme/api`],
      ['owner rest automations.disconnect not_found', id],
      ['owner rest automations.remove ok', 'audited'],
    ]);
  });

  it('are changed by no route that an automation’s own caller could use', async () => {
    const changes = server.app.get(AutomationChanges);
    const own: Caller = { ...ownerCaller, id: 'automation:a' };
    const name = plantedAutomation.name;
    const text = { text: nightly, file: 'a.yaml' };
    // One for each route that changes something: a new one has to be added here.
    const attempts: Record<string, (caller: Caller) => Promise<unknown>> = {
      add: (caller) => changes.add(text, caller),
      edit: (caller) => changes.edit(name, text, caller),
      remove: (caller) => changes.remove(name, caller),
      pause: (caller) => changes.pause(name, caller),
      resume: (caller) => changes.resume(name, caller),
      run: (caller) => changes.begin(name, { dry: true }, caller),
      cancel: (caller) => changes.cancel(plantedAutomation.run, caller),
      secret: (caller) => changes.makeSecret(name, caller),
      resetLane: (caller) => changes.resetLane(name, 'planted', caller),
      connect: (caller) => changes.connect({ host: 'a.b', repository: 'a/b' }, caller),
      disconnect: (caller) => changes.disconnect('none', caller),
    };
    const changing = Object.values<Route>(automationRoutes).filter(
      ({ method, unaudited }) => method !== 'GET' && !unaudited,
    );
    expect(changing.map((route) => routeName(route).split('.')[1]).toSorted()).toEqual(
      Object.keys(attempts).toSorted(),
    );
    for (const [route, attempt] of Object.entries(attempts)) {
      const code = await attempt(own).catch((error: { code: string }) => error.code);
      expect({ route, code }).toEqual({ route, code: 'forbidden' });
    }
    // The control: the same work by the owner.
    expect(await changes.pause(name, ownerCaller)).toMatchObject({ state: 'paused' });
  });
});
