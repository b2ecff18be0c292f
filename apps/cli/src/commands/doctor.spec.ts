import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { Check } from '@belay/protocol';
import { freePort, itLong } from '@belay/testing';
import { doctor } from './doctor.js';

type Review = { spec: { resourceAttributes: { namespace: string; verb: string } } };

/** A cluster that allows everything but to watch. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { spec } = (await json(request)) as Review;
  const { namespace, verb } = spec.resourceAttributes;
  const allowed = namespace === 'agents' && verb !== 'watch';
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ spec, status: { allowed } }));
}

describe('belay doctor without a server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'belay-doctor-'));
  const names = ['BELAY_ENGINE', 'BELAY_NAMESPACE', 'DOCKER_HOST', 'KUBECONFIG'] as const;
  const before = names.map((name) => [name, process.env[name]] as const);
  const played = createServer((request, response) => void answer(request, response));
  beforeAll(() => once(played.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => {
    played.close();
    played.closeAllConnections();
    rmSync(folder, { recursive: true });
  });
  afterEach(() => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });

  function kubeconfig(port: number): string {
    const file = join(folder, 'kubeconfig');
    // Without encryption, the client wants to be told that nothing is verified.
    const cluster = {
      server: `http://127.0.0.1:${port}`,
      'insecure-skip-tls-verify': true,
    };
    const config = {
      clusters: [{ name: 'played', cluster }],
      users: [{ name: 'belay', user: {} }],
      contexts: [{ name: 'played', context: { cluster: 'played', user: 'belay' } }],
      'current-context': 'played',
    };
    writeFileSync(file, JSON.stringify(config));
    return file;
  }

  async function checks(env: Partial<Record<(typeof names)[number], string>>): Promise<Check[]> {
    Object.assign(process.env, env);
    const said: string[] = [];
    const write = jest
      .spyOn(process.stdout, 'write')
      .mockImplementation((text) => said.push(String(text)) > 0);
    await doctor({ data: folder, port: await freePort(), json: true });
    write.mockRestore();
    return JSON.parse(said.join('')) as Check[];
  }

  itLong('checks the cluster that is configured, and not Docker', async () => {
    const { port } = played.address() as AddressInfo;
    const found = await checks({
      BELAY_ENGINE: 'kubernetes',
      BELAY_NAMESPACE: 'agents',
      KUBECONFIG: kubeconfig(port),
    });
    expect(found.map(({ name, ok }) => [name, ok])).toEqual([
      ['data folder', true],
      ['server', false],
      ['Kubernetes', true],
      ['Rights in the namespace', false],
    ]);
    expect(found.at(-1)?.detail).toBe('Not allowed in agents: watch pods.');
  });

  itLong(
    'says that the cluster does not respond, or that the access to it cannot be read',
    async () => {
      for (const [file, detail] of [
        [kubeconfig(await freePort()), /^Kubernetes does not respond/],
        [join(folder, 'missing'), /cannot be read from .*missing/],
      ] as const) {
        const found = await checks({ BELAY_ENGINE: 'kubernetes', KUBECONFIG: file });
        expect(found.slice(2)).toMatchObject([
          { name: 'Kubernetes', ok: false, detail: expect.stringMatching(detail) },
        ]);
        expect(found[2]?.remedy).toContain('kubeconfig');
      }
    },
  );

  it('checks the engine of this machine otherwise', async () => {
    const socket = join(folder, 'docker.sock');
    expect((await checks({ DOCKER_HOST: `unix://${socket}` })).at(-1)).toMatchObject({
      name: 'Docker',
      ok: false,
      remedy: 'belay up installs or starts one.',
    });
  });
});
