import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { PrivateRepository } from '@belay/host';
import { openFilesBelow, until } from '@belay/testing';
import { repositoryTar, type WorkingCopy } from './repository-tar.js';

const packBytes = 4_000_000;
let repository: PrivateRepository;
let copy: WorkingCopy;

beforeEach(async () => {
  repository = await PrivateRepository.create();
  const run = async (args: string[], environment: Record<string, string> = {}) => {
    const { output } = await repository.run(args, { input: Buffer.alloc(0), environment });
    return output.toString().trim();
  };
  const [name, email] = ['A', 'a@example.com'];
  const commit = await run(['commit-tree', '-m', 'empty', await run(['mktree'])], {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  });
  copy = { commit, branch: 'main', url: 'https://example.com/a.git' };
  const packs = join(repository.folder, 'objects/pack');
  mkdirSync(packs, { recursive: true });
  writeFileSync(join(packs, 'large.pack'), Buffer.alloc(packBytes, 'x'));
});
afterEach(() => repository.remove());

it('closes the files of a repository that was read', async () => {
  expect((await buffer(repositoryTar(repository, copy))).length).toBeGreaterThan(packBytes);
  expect(openFilesBelow(repository.folder)).toEqual([]);
});

it('closes the files of a repository whose reader goes away', async () => {
  const tar = repositoryTar(repository, copy);
  await until(
    'it waits for its reader, in the middle of the pack',
    () => openFilesBelow(repository.folder).length > 0,
  );
  tar.destroy();
  await until('nothing is open', () => openFilesBelow(repository.folder).length === 0);
});
