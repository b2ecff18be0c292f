import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DockerClient } from './docker.client.js';

const finished = '2026-11-25T12:00:00.5Z';
const state = { Running: false, ExitCode: 137, OOMKilled: true, FinishedAt: finished, Error: '' };
const inspected = JSON.stringify({ State: state, HostConfig: { Memory: 2 ** 29 } });

describe('a killed container that the engine marks as out of memory', () => {
  let oom: string[] = [];
  let broken = false;
  const folder = mkdtempSync(join(tmpdir(), 'belay-engine-'));
  const socket = join(folder, 'docker.sock');
  const engine = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://engine');
    if (!pathname.endsWith('/events')) return void response.end(inspected);
    if (broken) return void response.writeHead(500).end('{}');
    const [since, until] = ['since', 'until'].map((name) => Number(searchParams.get(name)));
    expect(JSON.parse(searchParams.get('filters') ?? '')).toMatchObject({
      container: ['c'],
      event: ['oom'],
    });
    const seen = oom.filter((time) => {
      const at = Date.parse(time) / 1000;
      return at >= since! && at <= until!;
    });
    response.end(seen.map(() => JSON.stringify({ Action: 'oom', Actor: { ID: 'c' } })).join('\n'));
  });
  const client = new DockerClient({ instance: 'test', dockerHost: `unix://${socket}` });
  beforeAll(async () => void (await once(engine.listen(socket), 'listening')));
  afterAll(async () => {
    engine.closeAllConnections();
    await once(engine.close(), 'close');
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    oom = [];
    broken = false;
  });
  const outOfMemory = async () => (await client.exit('c'))?.outOfMemory;

  it('ran out of memory if that was seen at its end', async () => {
    oom = ['2026-11-25T12:00:00.1Z'];
    expect(await outOfMemory()).toBe(true);
  });

  it.each([[['2026-11-25T11:57:00Z']], [['2026-11-25T12:00:05Z']], [[]]])(
    'did not if memory ran out at other times: %j',
    async (times) => {
      oom = times;
      expect(await outOfMemory()).toBe(false);
    },
  );

  it('is not said to have, if the engine does not tell', async () => {
    oom = ['2026-11-25T12:00:00.1Z'];
    broken = true;
    expect(await outOfMemory()).toBe(false);
  });
});
