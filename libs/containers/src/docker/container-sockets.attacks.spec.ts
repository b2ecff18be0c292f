import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makePrivateFolder } from '@belay/host';
import { ContainerSockets } from './container-sockets.js';

describe('attacks: links in the folder of the socket', () => {
  let folder: string;
  let sockets: ContainerSockets;
  const open = () => sockets.open('one');
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-'));
    sockets = new ContainerSockets(folder, 'sockets', () => {});
  });
  afterEach(async () => {
    await sockets.close();
    await rm(folder, { recursive: true });
  });

  it('40: neither the socket nor the hosts file is made through one, and its target keeps its mode', async () => {
    const secret = join(folder, 'secret');
    await writeFile(secret, 'key', { mode: 0o600 });
    await open();
    await sockets.close();
    // As a sandbox of an older version could, whose mount was writable.
    const own = sockets.folder('one');
    for (const name of ['agent.sock', 'hosts']) {
      await rm(join(own, name), { force: true });
      await symlink(secret, join(own, name));
    }
    await open();
    await sockets.place('one', 'hosts', '127.0.0.1 localhost\n');
    expect((await stat(secret)).mode & 0o777).toBe(0o600);
    expect(await readFile(secret, 'utf8')).toBe('key');
    expect((await lstat(join(own, 'agent.sock'))).isSocket()).toBe(true);
    expect((await lstat(join(own, 'hosts'))).isFile()).toBe(true);
    expect((await stat(join(own, 'agent.sock'))).mode & 0o777).toBe(0o666);
    expect((await stat(join(own, 'hosts'))).mode & 0o777).toBe(0o644);
  });

  it('40: the folder itself is not a link', async () => {
    await open();
    await sockets.close();
    const target = join(folder, 'target');
    await mkdir(target, { mode: 0o700 });
    await rm(sockets.folder('one'), { recursive: true });
    await symlink(target, sockets.folder('one'));
    await expect(open()).rejects.toThrow('belongs to another user or is a link');
    expect((await stat(target)).mode & 0o777).toBe(0o700);
    expect(await readdir(target)).toEqual([]);
    await rm(sockets.folder('one'));
    await open();
  });

  it('37: a link in a shared folder is refused, and a folder of this user is made its own', async () => {
    const [link, open, target] = ['link', 'open', 'target'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await mkdir(target);
    await chmod(target, 0o755);
    await symlink(target, link);
    await expect(makePrivateFolder(link)).rejects.toMatchObject({ code: 'unavailable' });
    expect((await stat(target)).mode & 0o777).toBe(0o755);
    await mkdir(open);
    await chmod(open, 0o777);
    await makePrivateFolder(open);
    expect((await stat(open)).mode & 0o777).toBe(0o700);
  });

  (process.getuid?.() === 0 ? it : it.skip)('37: a folder of another user is refused', async () => {
    const path = join(folder, 'theirs');
    await mkdir(path);
    await chmod(path, 0o777);
    const { chown } = await import('node:fs/promises');
    await chown(path, 12_345, 12_345);
    await expect(makePrivateFolder(path)).rejects.toMatchObject({ code: 'unavailable' });
    expect((await stat(path)).mode & 0o777).toBe(0o777);
  });
});
