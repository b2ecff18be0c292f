import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PreparedPublish, PublishedChange, PullRequestStatus } from '@belay/protocol';
import { sampled, until } from '@belay/testing';
import { gitIn, put, startForge, type PlayedForge } from '@belay/testkit';
import { TestServer } from '../testing/server.js';

const belay = new TestServer();
let forge: PlayedForge;
const folder = mkdtempSync(join(tmpdir(), 'belay-played-hosts-'));
beforeAll(() => belay.start());
afterAll(async () => {
  await belay.close();
  rmSync(folder, { recursive: true, force: true });
});

afterEach(() => forge.close());

/** The patch that an agent leaves after it wrote a file into a clone. */
function patchOf(source: string, name: string): Buffer {
  const work = join(folder, name);
  execFileSync('git', ['clone', '-q', source, work]);
  put(work, 'a.txt', 'a\n');
  gitIn(work, 'add', '--all');
  return execFileSync('git', ['-C', work, 'diff', '--cached', '--binary', '--full-index', 'HEAD']);
}

it.each(sampled(1, ['github', 'gitlab', 'gitea']))(
  'a pull request on the played %s is opened, found again and shown with its checks',
  async (kind) => {
    forge = await startForge(kind, { repository: 'acme/api', level: 'write' });
    const { state, git, url, token } = forge;
    const host = { private: true, insecure: true, kind, token };
    await belay.json('PUT', `/api/git/hosts/${git.host}`, host);
    expect(await belay.json('POST', `/api/git/hosts/${git.host}/test`)).toMatchObject({
      user: 'belay-bot',
    });
    const session = await belay.session({ repository: { url } });
    const patch = patchOf(state.git.folder, kind);
    belay.sandboxes.patch = () => [patch];
    const publish = async (title: string) => {
      const { id } = await belay.json<PreparedPublish>(
        'POST',
        `/api/sessions/${session}/publish/prepare`,
        { branch: 'agent/x' },
      );
      const pullRequest = { title, draft: true };
      const wanted = { branch: 'agent/x', id, message: title, pullRequest };
      return belay.json<PublishedChange>('POST', `/api/sessions/${session}/publish`, wanted);
    };
    expect(await publish('Add a')).toMatchObject({
      problem: null,
      pullRequest: { number: 1, isNew: true },
    });
    const [pull] = state.pulls;
    expect(pull?.pull).toMatchObject({ branch: 'agent/x', base: 'main', isDraft: true });
    const sha = pull?.pull.sha ?? '';
    state.setChecks(sha, [{ name: 'test', state: 'failed' }]);
    const shown = async () => {
      const path = `/api/sessions/${session}/pull-request`;
      return (await belay.json<{ pullRequest: PullRequestStatus }>('GET', path)).pullRequest;
    };
    expect(await shown()).toMatchObject({ number: 1, state: 'draft', checks: 'failed' });
    // A push by git itself moves the pull request.
    const work = join(folder, kind);
    gitIn(work, 'commit', '-q', '-m', 'more');
    const signedIn = url.replace('//', `//belay:${token}@`);
    const push = ['-C', work, 'push', '-q', '--force', signedIn, 'HEAD:refs/heads/agent/x'];
    await promisify(execFile)('git', push);
    const pushed = gitIn(work, 'rev-parse', 'HEAD').trim();
    await until('the pull request follows', () => state.pulls[0]?.pull.sha === pushed);
    expect(state.checksAt(pushed)).toEqual([]);
  },
);
