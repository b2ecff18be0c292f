import { pullRequestRef } from './pull-request-ref.js';

describe('the ref of a pull request', () => {
  it.each([
    ['https://github.com/acme/api/pull/31', 'https://github.com/acme/api.git', 'pull/31'],
    ['https://github.com/acme/api/pull/31/files#r1', 'https://github.com/acme/api.git', 'pull/31'],
    ['https://git.example:8443/a/b/pulls/2?x=1', 'https://git.example:8443/a/b.git', 'pull/2'],
    [
      'https://gitlab.com/group/sub/api/-/merge_requests/7/diffs',
      'https://gitlab.com/group/sub/api.git',
      'merge-requests/7',
    ],
    ['https://user:secret@git.example/a/b/pull/3', 'https://git.example/a/b.git', 'pull/3'],
  ])('of %s is in the repository', (address, repository, ref) => {
    expect(pullRequestRef(address)).toEqual({ repository, ref: `refs/${ref}/head` });
  });

  it.each([
    'HEAD',
    'statement.json',
    'https://github.com/acme/api',
    'https://github.com/acme/api/pull/0',
    'https://github.com/acme/api/pull/31x',
    'https://github.com/pull/31',
    'file:///srv/a/pull/1',
    'ext::sh -c x/a/pull/1',
  ])('is none for %s', (address) => {
    expect(pullRequestRef(address)).toBeUndefined();
  });
});
