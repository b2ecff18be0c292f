import { mkdir, mkdtemp, realpath, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContainerHost } from '@belay/containers';
import { Config } from '../config.js';
import { HostFolders } from './host-folders.js';

let root: string;
let folders: HostFolders;
const hostWith = (closedPaths: string[]) =>
  ({ name: 'Docker', can: { folders: true }, closedPaths }) as unknown as ContainerHost;
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'belay-shared-')));
  for (const name of [
    'home/.ssh',
    'home/code/app',
    'home/code/.gnupg',
    'other/.ssh',
    'data/blobs',
    'free/app',
    'free/two words',
  ])
    await mkdir(join(root, name), { recursive: true });
  await symlink('/etc', join(root, 'free/etc'));
  await symlink(join(root, 'data'), join(root, 'free/data'));
  await symlink(join(root, 'free/app'), join(root, 'free/link'));
  const config = new Config({
    BELAY_DATA: join(root, 'data'),
    XDG_RUNTIME_DIR: join(root, 'data'),
    HOME: join(root, 'home'),
  });
  folders = new HostFolders(config, hostWith(['/nowhere/docker.sock']));
});
afterAll(() => rm(root, { recursive: true }));

const plain = { profile: 'hardened', onMachine: false } as const;
const choose = (name: string, readOnly = false) =>
  folders.choose([{ folder: name.startsWith('/') ? name : join(root, name), readOnly }], plain);

it('positive control: a folder is shared below /mnt, and a link is shown as what it is', async () => {
  const app = join(root, 'free/app');
  const wanted = [
    { folder: join(root, 'free/link') },
    { folder: join(root, 'home/code/app'), readOnly: true },
    { folder: join(root, 'free/two words') },
  ];
  expect(await folders.choose(wanted, plain)).toEqual([
    { folder: app, path: '/mnt/app', readOnly: false },
    { folder: join(root, 'home/code/app'), path: '/mnt/app-2', readOnly: true },
    { folder: join(root, 'free/two words'), path: '/mnt/two_words', readOnly: false },
  ]);
  const [mount] = await choose('free/app');
  expect(await folders.hold([mount!])).toMatchObject([mount!]);
});

it.each([
  ['/', 'too broad'],
  ['/home', 'too broad'],
  ['/proc', 'belongs to the system'],
  ['/proc/self/root/etc', 'belongs to the system'],
  ['/sys', 'belongs to the system'],
  ['/dev', 'belongs to the system'],
  ['/etc', 'belongs to the system'],
  ['/usr/local', 'belongs to the system'],
  ['/tmp/..', 'too broad'],
  ['home', 'keys of yours'],
  ['home/.ssh', 'keys of yours'],
  ['home/code/.gnupg', 'keys of a user'],
  ['other', 'keys of a user'],
  ['.', 'Belay’s own data'],
  ['data/blobs', 'Belay’s own data'],
  ['free/data', 'Belay’s own data'],
  ['free/../data', 'Belay’s own data'],
  ['free/etc', 'belongs to the system'],
  ['free/etc/ssl', 'belongs to the system'],
  ['/nowhere/docker.sock', 'no folder'],
  ['missing', 'no folder'],
])('refuses %s', async (name, why) => {
  await expect(choose(name, true)).rejects.toThrow(why);
});

it('refuses the folder of the Docker socket, and what holds it', async () => {
  const config = new Config({ HOME: '/nowhere' });
  const own = new HostFolders(config, hostWith([join(root, 'free/app/docker.sock')]));
  for (const name of ['free/app', 'free'])
    await expect(own.choose([{ folder: join(root, name) }], plain)).rejects.toThrow(
      'Docker socket',
    );
  const mounts = await own.choose([{ folder: join(root, 'free/two words') }], plain);
  expect(mounts).toHaveLength(1);
});

it('gives root of a sandbox a folder for reading only, and a joined machine none', async () => {
  const wanted = { folder: join(root, 'free/app') };
  const asRoot = { profile: 'root', onMachine: false } as const;
  await expect(folders.choose([wanted], asRoot)).rejects.toThrow('share it read-only');
  expect(await folders.choose([{ ...wanted, readOnly: true }], asRoot)).toHaveLength(1);
  await expect(folders.choose([wanted], { ...plain, onMachine: true })).rejects.toThrow('joined');
  await expect(folders.choose([wanted, wanted], plain)).rejects.toThrow('shared twice');
});

it('shares none where the host of containers cannot', async () => {
  const host = { name: 'cluster', can: { folders: false }, closedPaths: [] };
  const without = new HostFolders(
    new Config({ HOME: '/nowhere' }),
    host as unknown as ContainerHost,
  );
  const wanted = { folder: join(root, 'free/app') };
  await expect(without.choose([wanted], plain)).rejects.toThrow('cluster cannot share folders');
  expect(await without.choose([], plain)).toEqual([]);
});

describe('a folder that is exchanged', () => {
  const swap = async (name: string, target: string) => {
    await rename(join(root, name), join(root, `${name}-before`));
    await symlink(target, join(root, name));
  };

  it('before a start is refused, and found again once it is back', async () => {
    await mkdir(join(root, 'free/early'));
    const mounts = await choose('free/early');
    await swap('free/early', '/etc');
    await expect(folders.hold(mounts)).rejects.toThrow('belongs to the system');
    await rm(join(root, 'free/early'));
    await symlink(join(root, 'free/app'), join(root, 'free/early'));
    await expect(folders.hold(mounts)).rejects.toThrow(`is at ${join(root, 'free/app')} now`);
    await rm(join(root, 'free/early'));
    await expect(folders.hold(mounts)).rejects.toThrow('no folder');
    await rename(join(root, 'free/early-before'), join(root, 'free/early'));
    expect(await folders.hold(mounts)).toMatchObject(mounts);
  });
});
