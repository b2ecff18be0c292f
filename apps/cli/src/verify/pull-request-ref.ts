/** Where a git host keeps the last commit of a pull request. */
export interface PullRequestRef {
  /** Its repository, for git. */
  repository: string;
  ref: string;
}

/**
 * Reads the address of a pull or merge request’s page; undefined for any other. GitHub, GitLab, Gitea and Forgejo serve
 * the commit as a ref, so no API has to be asked.
 */
export function pullRequestRef(address: string): PullRequestRef | undefined {
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  const [, path, kind, number] =
    /^(\/.+?)\/(?:-\/)?(pulls?|merge_requests)\/([1-9]\d*)(?:\/.*)?$/.exec(url.pathname) ?? [];
  if (path === undefined) return undefined;
  const folder = kind === 'merge_requests' ? 'merge-requests' : 'pull';
  return { repository: `${url.origin}${path}.git`, ref: `refs/${folder}/${number}/head` };
}
