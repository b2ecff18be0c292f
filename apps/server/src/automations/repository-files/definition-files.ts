import { Injectable } from '@nestjs/common';
import type { PrivateRepository } from '@belay/host';
import { AppError } from '@belay/protocol';
import { GitHosts } from '../../git/git-hosts.js';
import { RepositoryFetcher } from '../../git/repository-fetcher.js';
import type { ForgeSource } from '../forges/forge-sources.js';

/** The folder of definitions in a repository. */
export const definitionFolder = '.belay/automations';

const maxFiles = 50;
/** The reader of definitions takes no longer ones. */
const maxFileBytes = 65_536;
const maxListBytes = 2 ** 20;
const maxPackBytes = 2 ** 30;
const timeoutMs = 120_000;

export interface DefinitionFile {
  /** Within the repository. */
  path: string;
  text: string;
}

/** Reads the definitions of a repository from its default branch: no other branch, and nothing is checked out. */
@Injectable()
export class DefinitionFiles {
  constructor(
    private readonly hosts: GitHosts,
    private readonly fetcher: RepositoryFetcher,
  ) {}

  /** Undefined if the default branch is still at `known`. Throws one sentence. */
  async read(
    { host, repository }: ForgeSource,
    known: string | null,
  ): Promise<{ commit: string; files: DefinitionFile[] } | undefined> {
    const scheme = this.hosts.describe(host).insecure ? 'http' : 'https';
    const remote = this.hosts.remote(`${scheme}://${host}/${repository}.git`, 'admin');
    const signal = AbortSignal.timeout(timeoutMs);
    const found = await this.fetcher.find(remote, {}, signal);
    if (found.object === known) return undefined;
    const options = { maxBytes: maxPackBytes, depth: 1, signal };
    const fetched = await this.fetcher.fetch(found, options);
    try {
      return { commit: fetched.commit, files: await filesOf(fetched.repository, fetched.commit) };
    } finally {
      await fetched.repository.remove();
    }
  }
}

async function filesOf(repository: PrivateRepository, commit: string): Promise<DefinitionFile[]> {
  const args = ['ls-tree', '-z', '-l', commit, '--', `${definitionFolder}/`];
  const { code, output } = await repository.run(args, { maxBytes: maxListBytes });
  if (code !== 0) throw new AppError('internal', 'Git could not list the definitions.');
  const entries = output.toString().split('\0').filter(Boolean).map(entryOf);
  const wanted = entries.filter(({ path }) => /\.ya?ml$/.test(path));
  if (wanted.length > maxFiles)
    throw new AppError('too_large', `${definitionFolder} has more than ${maxFiles} definitions.`);
  const files: DefinitionFile[] = [];
  for (const { mode, id, bytes, path } of wanted) {
    // A link would name another file, and a folder or module has no text.
    if (!/^100(644|755)$/.test(mode)) continue;
    if (bytes > maxFileBytes)
      throw new AppError('too_large', `${path} is larger than ${maxFileBytes / 1_024} KiB.`);
    const blob = await repository.run(['cat-file', 'blob', id], { maxBytes: maxFileBytes + 1 });
    if (blob.code !== 0) throw new AppError('internal', `Git could not read ${path}.`);
    files.push({ path, text: blob.output.toString() });
  }
  return files;
}

/** One line of `git ls-tree -l`: mode, type, id and size, and the path after a tab. */
function entryOf(line: string): { mode: string; id: string; bytes: number; path: string } {
  const [head = '', path = ''] = line.split('\t');
  const [mode = '', , id = '', size = '0'] = head.split(/ +/);
  return { mode, id, bytes: Number(size), path };
}
