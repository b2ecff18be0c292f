import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { ContainerCreateOptions, MountSettings } from 'dockerode';
import { DockerClient } from './docker.client.js';

const folder = mkdtempSync(join(tmpdir(), 'belay-engine-'));
const socket = join(folder, 'docker.sock');
let api = '';
let requests: string[] = [];
let created: ContainerCreateOptions | undefined;

/** An engine of this API with one volume. */
const engine = createServer((request, response) => {
  void answer(request).then(([status, body]) =>
    response.writeHead(status).end(JSON.stringify(body)),
  );
});

async function answer(request: IncomingMessage): Promise<[status: number, body: object]> {
  const path = new URL(request.url ?? '', 'http://engine').pathname;
  requests.push(path);
  if (path === '/version') return [200, { ApiVersion: api }];
  if (path === '/volumes/sockets') return [200, { Mountpoint: '/var/lib/engine/sockets/_data' }];
  if (path !== '/containers/create') return [404, { message: 'no such volume' }];
  created = (await json(request)) as ContainerCreateOptions;
  return [201, { Id: 'c' }];
}

beforeAll(async () => {
  await once(engine.listen(socket), 'listening');
});
afterAll(async () => {
  engine.closeAllConnections();
  await once(engine.close(), 'close');
  rmSync(folder, { recursive: true });
});
beforeEach(() => (requests = []));

const bind = (Source: string, Target: string, ReadOnly = true): MountSettings => ({
  Type: 'bind',
  Source,
  Target,
  ReadOnly,
});
const volume: MountSettings = { Type: 'volume', Source: 'workspace', Target: '/workspace' };
const sandbox = [
  volume,
  bind('/run/belay/one', '/run/belay'),
  bind('/run/belay/one/hosts', '/etc/hosts', false),
  bind('/run/belay-other/one', '/mnt/one'),
];

async function mountsMade(version: string, name: string | undefined, mounts = sandbox) {
  api = version;
  const sockets = name === undefined ? undefined : { folder: '/run/belay', volume: name };
  const client = new DockerClient({ instance: 'i', dockerHost: `unix://${socket}`, sockets });
  await client.create({ Image: 'any', HostConfig: { Mounts: mounts } });
  return created?.HostConfig?.Mounts;
}

describe('sockets of a server in a container', () => {
  it.each(['1.45', '1.51', '1.100'])(
    'are parts of their volume for an engine with API %s',
    async (version) => {
      const part = (Subpath: string, Target: string, ReadOnly: boolean) => ({
        Type: 'volume',
        Source: 'sockets',
        Target,
        ReadOnly,
        VolumeOptions: {
          NoCopy: true,
          Labels: {},
          DriverConfig: { Name: '', Options: {} },
          Subpath,
        },
      });
      expect(await mountsMade(version, 'sockets')).toEqual([
        volume,
        part('one', '/run/belay', true),
        part('one/hosts', '/etc/hosts', false),
        bind('/run/belay-other/one', '/mnt/one'),
      ]);
    },
  );

  it.each(['1.9', '1.41', '1.44'])(
    'are where an engine with API %s keeps the volume',
    async (version) => {
      expect(await mountsMade(version, 'sockets')).toEqual([
        volume,
        bind('/var/lib/engine/sockets/_data/one', '/run/belay'),
        bind('/var/lib/engine/sockets/_data/one/hosts', '/etc/hosts', false),
        bind('/run/belay-other/one', '/mnt/one'),
      ]);
    },
  );

  it('say which setting names a volume that is not there', async () => {
    await expect(mountsMade('1.45', 'wrong')).rejects.toThrow('BELAY_SOCKET_VOLUME');
    expect(requests).not.toContain('/containers/create');
  });

  it('cost a container without them no question to the engine', async () => {
    await mountsMade('1.45', 'sockets', [volume]);
    expect(requests).toEqual(['/containers/create']);
  });
});

it('mounts the sockets of a server on the machine itself as they are', async () => {
  expect(await mountsMade('1.45', undefined)).toEqual(sandbox);
});
