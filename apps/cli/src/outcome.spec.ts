import type { SessionSummary } from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { conclude } from './outcome.js';

it('says of commits of the agent what the patch has of them, and where they are', async () => {
  const lines: string[] = [];
  const summary = {
    id: 's1',
    state: 'finished',
    reason: 'done',
    steps: 1,
    tokens: 10,
    dollars: 0,
    workTime: { seconds: 1, since: null },
  } as unknown as SessionSummary;
  const sessions = { get: async () => summary, patch: async () => Buffer.from('') };
  const end = (ownCommits: number) =>
    conclude(
      { interrupted: false, changed: [], ownCommits },
      {
        id: 's1',
        client: { sessions } as unknown as BelayClient,
        url: 'http://h',
        format: 'words',
        progress: {
          width: 80,
          line: (text) => void lines.push(text),
          json: () => {},
          style: (_, text) => text,
        },
      },
    );
  expect(await end(0)).toBe(0);
  expect(lines.join('\n')).not.toContain('commit');
  await end(2);
  expect(lines.slice(-2)).toEqual([
    expect.stringMatching(/ · 2 commits by the agent$/),
    'The patch contains the agent’s 2 commits as changed files. To get the commits with author and message, download the files with their .git: http://h/api/sessions/s1/export?format=tar',
  ]);
});
