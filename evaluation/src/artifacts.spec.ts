import { merge, noArtifacts } from './artifacts.js';
import { isCollected } from './artifact-filter.js';
import { readArchive, fileEntry, folderEntry, contentHash, packArchive } from './entries.js';

it.each([
  '/app/solution.py',
  '/app/src/deep/file.txt',
  '/tmp/state',
  '/home/agent/project/x',
  '/app/repo/.git/objects/ab/cdef',
  '/logs/artifacts/a',
  '/testing/a',
  '/root/notes.txt',
  '/app/information/a.py',
])('%s is collected', (path) => expect(isCollected(path)).toBe(true));

it.each([
  '/usr/local/bin/pytest',
  '/bin/sh',
  '/lib/x.so',
  '/opt/tool',
  '/etc/profile.d/x.sh',
  '/root/.bashrc',
  '/root/.local/bin/env',
  '/home/agent/.profile',
  '/tests/test_a.py',
  '/logs/verifier/reward.txt',
  '/app/conftest.py',
  '/app/pytest.ini',
  '/app/pytest.py',
  '/app/_pytest/x.py',
  '/app/sitecustomize.py',
  '/app/a.pth',
  '/app/jest.config.js',
  '/app/.git/hooks/post-commit',
  '/app/.git/config',
  '/app/evil-1.0.dist-info/entry_points.txt',
  '/app/evil-1.0.DIST-INFO',
  '/app/evil.egg-info/entry_points.txt',
  '/app/__pycache__/core.cpython-311.pyc',
])('%s is not collected', (path) => expect(isCollected(path)).toBe(false));

it('changes of a later step take precedence, and files that it removed are dropped', () => {
  const first = {
    ...noArtifacts,
    entries: [fileEntry('/app/a', '1'), fileEntry('/app/d/x', '1')],
    removed: ['/b'],
  };
  const second = {
    ...noArtifacts,
    entries: [fileEntry('/app/a', '2'), fileEntry('/b', 'new')],
    removed: ['/app/d'],
  };
  const { entries, removed } = merge(first, second);
  expect(entries.map(({ path, bytes }) => [path, bytes.toString()])).toEqual([
    ['/app/a', '2'],
    ['/b', 'new'],
  ]);
  expect(removed).toEqual(['/app/d']);
});

it('entries survive an archive byte for byte', async () => {
  const entries = [
    folderEntry('/app', 0o750),
    { ...fileEntry('/app/run', Buffer.from([0, 255, 13, 10]), 0o755), uid: 7, gid: 8 },
    { ...fileEntry('/app/link', ''), kind: 'link' as const, mode: 0o777, target: 'run' },
    fileEntry(`/app/${'long/'.repeat(30)}name`, 'a\r\n'),
  ];
  expect(await readArchive(await packArchive(entries), '/')).toEqual(entries);
});

it('a hash depends on content, names and modes', () => {
  expect(contentHash([fileEntry('a', 'x')])).toBe(contentHash([fileEntry('a', 'x')]));
  const others = [fileEntry('a', 'y'), fileEntry('b', 'x'), fileEntry('a', 'x', 0o755)].map((one) =>
    contentHash([one]),
  );
  expect(new Set([contentHash([fileEntry('a', 'x')]), ...others]).size).toBe(4);
});
