import { AppError } from '@belay/protocol';
import type { GitHosts } from '../../../git/git-hosts.js';
import { noObject, type SmartHttp } from '../../../git/smart-http.js';
import { eventKey } from '../event-keys.js';
import type { PolledItem, PolledList } from './polled-lists.js';

const timeoutMs = 60_000;
/** Branches that are compared; a repository with more has to have a webhook. */
const maxBranches = 2_000;

/** Pushes to branches, found by what git itself says: it needs no API, and no host limits it. */
export const branchList = (
  hosts: Pick<GitHosts, 'describe' | 'remote'>,
  smart: Pick<SmartHttp, 'refs'>,
): PolledList => ({
  name: 'branches',
  events: ['push'],
  isSnapshot: true,
  async read({ forge: { host, path }, seen, isFirst, now }) {
    const scheme = hosts.describe(host).insecure ? 'http' : 'https';
    const remote = hosts.remote(`${scheme}://${host}/${path}.git`, 'admin');
    const signal = AbortSignal.timeout(timeoutMs);
    const { refs } = await smart.refs(remote, 'git-upload-pack', signal);
    const branches = [...refs].filter(([ref]) => ref.startsWith('refs/heads/'));
    if (branches.length > maxBranches)
      throw new AppError(
        'too_large',
        `${path} has more than ${maxBranches} branches: only a webhook tells of pushes to it.`,
      );
    const known = new Map(seen.map((each) => [each.slice(41), each.slice(0, 40)]));
    const items = branches.flatMap(([ref, sha]): PolledItem[] => {
      if (isFirst || sha === noObject || known.get(ref) === sha) return [];
      const branch = ref.slice('refs/heads/'.length);
      if (branch.length > 300) return [];
      const key = eventKey('push', ref, sha);
      // Git does not say who pushed.
      return [{ id: key, occurrence: { event: 'push', key, at: now, actor: null, branch, sha } }];
    });
    return { items, seen: branches.map(([ref, sha]) => `${sha} ${ref}`) };
  },
});
