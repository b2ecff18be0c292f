import type { Machine, MadeToken, SessionSummary } from '@belay/protocol';
import { MachineStore } from '../sandboxes/machines/machine.store.js';
import { Machines } from '../sandboxes/machines/machines.js';
import { operationResults } from '../testing/operation-samples.js';
import { TestServer } from '../testing/server.js';

describe('attacks: sessions on a bare machine', () => {
  const server = new TestServer();
  const started: Record<string, string> = {};
  let operator: string;

  beforeAll(async () => {
    await server.start({ BELAY_REQUESTS_PER_SECOND: '0' });
    const wanted = { label: 'chat', scope: 'operate' };
    operator = (await server.json<MadeToken>('POST', '/api/tokens', wanted)).token;
    const machines = server.app.get(Machines);
    for (const kind of ['bare', 'container'] as const) {
      const { token } = await machines.invite(kind);
      await machines.join(token, { host: 'h', os: 'o', arch: 'x64', kind });
    }
    // Nothing runs on them: they only have to be connected.
    const known = (name: string) => server.app.get(MachineStore).named(name)!;
    jest.spyOn(machines, 'connectedNamed').mockImplementation(known);
    for (const machine of ['bare', 'container'])
      started[machine] = await server.session({ machine, approvals: 'auto' });
    server.sandboxes.answer = () => operationResults['terminal.run'];
  });
  afterAll(() => server.close());

  const send = async (token: string, [method, path, body]: Request) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await server.fetch(path, { method, token, headers, body: JSON.stringify(body) });
    const text = await answer.text();
    return { ...(text ? (JSON.parse(text) as { code?: string; detail?: string }) : {}), path };
  };
  type Request = readonly [method: string, path: string, body: object];
  const changes = (machine: string): Request[] => {
    const id = started[machine];
    return [
      ['POST', `/api/sessions/${id}/operations/terminal.run`, { command: 'id' }],
      ['POST', `/api/sessions/${id}/messages`, { text: 'Run id.' }],
      ['PATCH', `/api/sessions/${id}`, { approvals: 'auto' }],
      ['POST', `/api/sessions/${id}/fork`, { seq: 1 }],
    ];
  };
  const ofGpt = (machine: string): Request[] => {
    const query = `session=${started[machine]}`;
    return [
      ['POST', `/gpt/messages?${query}`, { text: 'Run id.' }],
      ['POST', `/execcmd?cmd=id&${query}`, {}],
      ['POST', `/gpt/operations/terminal_run?${query}`, { command: 'id' }],
      ['POST', `/gpt/stop?${query}`, {}],
    ];
  };
  const refused = { code: 'forbidden', detail: expect.stringContaining('bare machine') };

  it('are operated by an admin alone, and by no request that a model writes', async () => {
    for (const request of [...changes('bare'), ...ofGpt('bare')])
      expect(await send(operator, request)).toMatchObject(refused);
    for (const request of ofGpt('bare'))
      expect(await send(server.token, request)).toMatchObject(refused);
    // The controls: an admin, a machine with containers, and what only reads.
    for (const request of changes('bare'))
      expect((await send(server.token, request)).code).toBeUndefined();
    for (const request of changes('container'))
      expect((await send(operator, request)).code).toBeUndefined();
    const seen = await server.fetch(`/api/sessions/${started['bare']}`, { token: operator });
    expect(((await seen.json()) as SessionSummary).machine).toEqual({ name: 'bare', kind: 'bare' });
  });

  it('are offered to nobody else who starts sessions', async () => {
    const sandbox = { machine: 'bare', image: null, profile: 'hardened' };
    const wanted = { label: 'given', scope: 'operate', sessions: 'own', sandbox };
    const given = (await server.json<MadeToken>('POST', '/api/tokens', wanted)).token;
    const named = async (token: string) => {
      const listed = await server.fetch('/api/machines', { token });
      return ((await listed.json()) as Machine[]).map(({ name }) => name).toSorted();
    };
    for (const token of [operator, server.viewerToken])
      expect(await named(token)).toEqual(['container']);
    for (const token of [given, server.token])
      expect(await named(token)).toEqual(['bare', 'container']);
  });

  it('are operated by the tokens that an admin made for that machine, also by a GPT, and by no other', async () => {
    const tokenOf = async (machine: string) => {
      const sandbox = { machine, image: null, profile: 'hardened' };
      const wanted = { label: machine, scope: 'operate', sandbox };
      return (await server.json<MadeToken>('POST', '/api/tokens', wanted)).token;
    };
    const [given, other] = [await tokenOf('bare'), await tokenOf('container')];
    for (const request of [...changes('bare').slice(0, 3), ofGpt('bare')[0]!]) {
      expect(await send(other, request)).toMatchObject(refused);
      expect((await send(given, request)).code).toBeUndefined();
    }
  });

  it('are known after a restart, and so are their forks', async () => {
    const fork = await send(server.token, changes('bare')[3]!);
    started['fork'] = (fork as { id?: string }).id ?? '';
    expect(started['fork']).not.toBe('');
    await server.restart();
    for (const request of [...changes('bare').slice(1), ...changes('fork').slice(1)])
      expect(await send(operator, request)).toMatchObject(refused);
    expect((await send(server.token, changes('bare')[2]!)).code).toBeUndefined();
  });
});
