import { Injectable } from '@nestjs/common';
import { AppError, fullCommitId, type ActionSource } from '@belay/protocol';
import { timeLimit } from '@belay/rpc';
import { GitHosts } from '../git/git-hosts.js';
import { RepositoryFetcher, type WantedCommit } from '../git/repository-fetcher.js';
import { BlobReader, listTree, type GitTreeEntry } from '../git/write-tree.js';
import { assertWithin, checkedPath, type ActionFile } from './action-files.js';
import { pathsOfActions } from './find-actions.js';

/** Limits for a whole repository; only the folders of actions are read. */
const limits = { entries: 20_000, bytes: 512 * 2 ** 20 };
const maxPackBytes = 256 * 2 ** 20;
const timeoutMs = 300_000;

export interface Fetched {
  source: Omit<ActionSource, 'folder'>;
  files: ActionFile[];
}

/** Fetches repositories with actions. Only regular files are extracted, and nothing in them runs on this machine. */
@Injectable()
export class ActionRepositories {
  constructor(
    private readonly hosts: GitHosts,
    private readonly fetcher: RepositoryFetcher,
  ) {}

  /** `from` is a GitHub repository as `user/repo`, or an address. Throws one sentence. */
  async fetch(from: string, version: string | null, signal: AbortSignal): Promise<Fetched> {
    const limit = timeLimit(timeoutMs, signal);
    const remote = this.hosts.remote(addressOf(from), 'admin');
    const found = await this.fetcher.find(remote, wantedCommit(version), limit);
    const { repository, commit } = await this.fetcher.fetch(found, {
      maxBytes: maxPackBytes,
      depth: 1,
      signal: limit,
    });
    try {
      const entries = inActions(await listTree(repository, { commit, limits }));
      assertWithin(
        entries.length,
        entries.reduce((sum, { bytes }) => sum + bytes, 0),
      );
      const blobs = new BlobReader(repository);
      try {
        const files: ActionFile[] = [];
        for (const { path, mode, id, bytes } of entries) {
          limit.throwIfAborted();
          const content = await blobs.read(id, bytes);
          files.push({ path, executable: mode === '100755', content: Buffer.from(content) });
        }
        return { source: { from, version, commit }, files };
      } finally {
        blobs.close();
      }
    } finally {
      await repository.remove();
    }
  }
}

/** The address of `user/repo`; other values are addresses already. */
const addressOf = (from: string): string =>
  /^[\w.-]+\/[\w.-]+$/.test(from) ? `https://github.com/${from}` : from;

/** A version that looks like the id of a commit is one, so that no branch of that name replaces what was pinned. */
const wantedCommit = (version: string | null): WantedCommit => {
  if (version === null) return {};
  return fullCommitId.safeParse(version).success ? { commit: version } : { ref: version };
};

/** The files in folders of actions. Throws `forbidden` for a folder with a link or a submodule. */
function inActions(entries: readonly GitTreeEntry[]): GitTreeEntry[] {
  const named = entries.map((entry) => ({
    ...entry,
    path: Buffer.from(entry.path, 'latin1').toString('utf8'),
  }));
  const isWanted = pathsOfActions(named.map(({ path }) => path));
  const wanted = named.filter(({ path }) => isWanted(path));
  for (const { mode, path } of wanted) {
    checkedPath(path);
    if (mode === '100644' || mode === '100755') continue;
    const kind = mode === '160000' ? 'a submodule' : 'a link';
    throw new AppError(
      'forbidden',
      `${JSON.stringify(path.slice(0, 200))} is ${kind}: an action may contain only plain files.`,
    );
  }
  return wanted;
}
