import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { programFolder } from './program-folder.js';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'belay-program-'));
  for (const name of ['tools', 'tools-data', 'data/inner'])
    await mkdir(join(root, name), { recursive: true });
  await symlink(join(root, 'data'), join(root, 'link'));
  await symlink(join(root, 'tools'), join(root, 'fine'));
  await writeFile(join(root, 'file'), '');
});
afterAll(() => rm(root, { recursive: true }));
const checked = (name: string) =>
  programFolder(join(root, name), [join(root, 'data'), join(root, 'tools-data'), '/no/such.sock']);

it('is the folder without links', async () => {
  expect(await checked('tools')).toEqual({ path: join(root, 'tools'), real: join(root, 'tools') });
  expect((await checked('fine')).real).toBe(join(root, 'tools'));
});

it.each(['data', 'data/inner', 'link', 'link/inner', 'tools/../data', '.', '../..'])(
  'attacks: %s holds what is closed, or lies in it',
  async (name) => {
    await expect(checked(name)).rejects.toThrow('Name a folder of the program');
  },
);

it.each(['/', '/proc/self', '/run', '/dev', '/sys'])(
  'attacks: %s is the system’s',
  async (path) => {
    await expect(programFolder(path, [homedir()])).rejects.toThrow(/of the system|no folder/);
  },
);

it.each(['missing', 'file'])('%s is not a folder', async (name) => {
  await expect(checked(name)).rejects.toThrow('There is no folder');
});
