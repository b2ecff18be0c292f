import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AgentChoice } from '@belay/protocol';
import {
  addAgent,
  installAgents,
  listAgents,
  logoutOfAgent,
  removeAgent,
  updateAgents,
} from './agents.js';

const agent: AgentChoice = {
  name: 'one',
  title: 'Agent One',
  about: 'The first one.',
  kind: 'installable',
  protocols: ['acp'],
  formats: ['chat'],
  licence: { spdx: null, url: 'https://vendor.example/terms' },
  state: 'missing',
  version: null,
  newest: '2.0.0',
  bytes: { done: 0, total: 0 },
  error: null,
  sessions: 2,
  command: [],
  variables: [],
};

/** What the registry has of another version. */
const found = {
  version: '3.0.0',
  packages: [{ name: 'program', version: '3.0.0', integrity: 'sha512-abc' }],
};

describe('belay agents', () => {
  let server: Server;
  /** What `list` returns, one answer after another; the last one stays. */
  let lists: AgentChoice[][];
  const requests: string[] = [];
  const printed: string[] = [];
  const options = () => ({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });

  beforeEach(async () => {
    process.env.BELAY_TOKEN = 'token';
    requests.length = 0;
    printed.length = 0;
    lists = [[agent]];
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (piece) => (body += String(piece)));
      request.on('end', () => {
        if (request.method !== 'GET') requests.push(`${request.method} ${request.url} ${body}`);
        if (request.method === 'DELETE') return response.writeHead(204).end();
        response.setHeader('content-type', 'application/json');
        if (request.url?.includes('/versions/')) return response.end(JSON.stringify(found));
        const all = lists.length > 1 ? lists.shift() : lists[0];
        response.statusCode = request.method === 'POST' ? 202 : 200;
        response.end(JSON.stringify(request.method === 'GET' ? all : agent));
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const keep = (text: unknown) => printed.push(String(text)) > 0;
    jest.spyOn(process.stdout, 'write').mockImplementation(keep);
    jest.spyOn(process.stderr, 'write').mockImplementation(keep);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    delete process.env.BELAY_TOKEN;
    await new Promise((done) => server.close(done));
  });

  it('lists versions and licences', async () => {
    const old = { ...agent, name: 'old', version: '1.0.0', state: 'ready' as const };
    const own = { ...agent, name: 'own', kind: 'custom' as const, licence: null };
    lists = [[agent, old, own]];
    await listAgents(options());
    expect(printed.join('')).toMatch(/one +not installed +proprietary +The first one\./);
    expect(printed.join('')).toMatch(/old +1\.0\.0 \(2\.0\.0 available\)/);
    expect(printed.join('')).toMatch(/own +own entry/);
  });

  it('shows a sign-in that is kept, and removes it', async () => {
    lists = [
      [
        { ...agent, login: 'kept' },
        { ...agent, name: 'two', login: 'possible' },
      ],
    ];
    await listAgents(options());
    expect(printed.join('').match(/You are signed in\./g)).toHaveLength(1);
    await logoutOfAgent('one', options());
    expect(requests).toEqual(['DELETE /api/agents/one/login ']);
    expect(printed.at(-1)).toContain('Removed your sign-in to one.');
  });

  it('shows the licence before an install, and waits for its end', async () => {
    const installing = { ...agent, state: 'installing' as const, bytes: { done: 1, total: 2 } };
    const ready = { ...agent, state: 'ready' as const, version: '2.0.0' };
    lists = [[agent], [installing], [ready]];
    expect(await installAgents(['one'], { ...options(), accept: true })).toBe(0);
    expect(requests).toEqual(['POST /api/agents/one/install {"accept":true}']);
    expect(printed[0]).toContain('licence: proprietary, https://vendor.example/terms');
    expect(printed.at(-1)).toContain('Installed Agent One 2.0.0.');
  });

  it('fails with the sentence of the server', async () => {
    lists = [[agent], [{ ...agent, state: 'failed', error: 'It was changed.' }]];
    expect(await installAgents(['one'], options())).toBe(1);
    expect(printed.at(-1)).toContain('Agent One: It was changed.');
    await expect(installAgents(['two'], options())).rejects.toThrow('Choose from: one.');
  });

  it('updates only what is old', async () => {
    const current = { ...agent, name: 'new', version: '2.0.0' };
    lists = [[agent, current]];
    expect(await updateAgents([], options())).toBe(0);
    expect(requests).toEqual([]);
    const old = { ...agent, version: '1.0.0' };
    lists = [[old, current], [{ ...old, version: '2.0.0', state: 'ready' }]];
    expect(await updateAgents([], options())).toBe(0);
    expect(requests).toEqual(['POST /api/agents/one/install {"accept":true}']);
  });

  it('updates nothing that is not installed, and accepts no licence for it', async () => {
    await expect(updateAgents(['one'], options())).rejects.toThrow(
      'Agent One is not installed. Install it with: belay agents install one',
    );
    expect(await updateAgents([], options())).toBe(0);
    expect(printed.at(-1)).toContain('No agents are installed.');
    expect(requests).toEqual([]);
  });

  it('installs another version once its packages are confirmed', async () => {
    const old = { ...agent, version: '1.0.0' };
    lists = [[old]];
    const wanted = { ...options(), version: '3.0.0' };
    await expect(updateAgents([], wanted)).rejects.toThrow('--version is for one agent. Name it.');
    await expect(updateAgents(['one'], wanted)).rejects.toThrow('Use --yes to install these');
    expect(printed.join('')).toMatch(/was not checked .*\n +program 3\.0\.0 +sha512-abc/);
    expect(requests).toEqual([]);
    lists = [[old], [{ ...old, version: '3.0.0', state: 'ready' }]];
    expect(await updateAgents(['one'], { ...wanted, yes: true })).toBe(0);
    expect(requests).toEqual([
      'POST /api/agents/one/install {"accept":true,"other":{"version":"3.0.0","integrity":["sha512-abc"]}}',
    ]);
    expect(printed.at(-1)).toContain('Installed Agent One 3.0.0.');
  });

  it('adds an entry, and says what keeps the files of a removed one', async () => {
    const more = { env: ['A=b=c'], protocol: 'terminal' as const };
    await addAgent('mine', ['my-agent', '{task}'], { ...options(), ...more });
    expect(requests).toEqual([
      'PUT /api/custom-agents/mine {"command":["my-agent","{task}"],"env":{"A":"b=c"},"protocol":"terminal"}',
    ]);
    await removeAgent('one', options());
    expect(printed.at(-1)).toContain('until the last of 2 sessions with it is deleted');
  });
});
