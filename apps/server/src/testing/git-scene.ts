import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PreparedPublish, PublishedChange } from '@belay/protocol';
import { GitServer, put } from '@belay/testkit';
import { TestServer } from './server.js';

const create = [
  'git init -q -b main --template=',
  'git -c core.autocrlf=false add .',
  'git -c user.name=t -c user.email=t@t commit -q -m first',
  'git branch release/1',
].join(' && ');

/** Commands of git as one process of the test, which is large: each that it starts takes longer than git itself. */
export const shellIn = (folder: string, script: string): Buffer =>
  execFileSync('/bin/sh', ['-c', script], { cwd: folder });

/**
 * The whole server except containers, and a real git server with repositories to clone and push to.
 */
export class GitScene {
  readonly belay = new TestServer();
  readonly git = new GitServer();
  readonly folder = mkdtempSync(join(tmpdir(), 'belay-git-in-out-'));
  readonly source = join(this.folder, 'source');
  /** The initial files as they are committed, and a bare repository of the source: copies need no processes. */
  readonly #checkout = join(this.folder, 'checkout');
  #bare = '';
  #repositories = 0;

  async start(): Promise<void> {
    const { belay, git, source } = this;
    await git.start();
    await belay.start({ BELAY_MAX_SANDBOXES: '200' });
    put(source, 'README.md', 'one\ntwo\nthree\n');
    put(source, 'src/ä b.js', 'let a = 1;\n');
    put(source, 'data.bin', Buffer.from([0, 1, 2, 255]));
    put(source, '.gitattributes', '* text eol=crlf filter=evil\nREADME.md export-ignore\n');
    shellIn(source, create);
    this.#bare = git.bare('first.git');
    for (const name of ['objects', 'refs'])
      cpSync(join(source, '.git', name), join(this.#bare, name), { recursive: true });
    cpSync(source, this.#checkout, { recursive: true });
    put(this.#checkout, '.git/info/attributes', '* -text !eol !filter\n');
    await belay.json('PUT', `/api/git/hosts/${git.host}`, {
      private: true,
      insecure: true,
      kind: 'gitea',
      token: git.token,
    });
  }

  async close(): Promise<void> {
    await this.belay.close();
    await this.git.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Publishes another repository. */
  readonly repository = (): { bare: string; url: string } => {
    const path = `acme/app-${++this.#repositories}.git`;
    return { bare: this.git.copy(path, this.#bare), url: this.git.url(path) };
  };

  /** Publishes another repository and creates a session cloned from it. */
  readonly cloned = async (
    more: object = {},
  ): Promise<{ session: string; bare: string; url: string }> => {
    const { bare, url } = this.repository();
    const session = await this.belay.session({ repository: { url, ...more } });
    return { session, bare, url };
  };

  /** A new clone with the initial files; returns its folder. */
  readonly checkout = (): string => {
    const work = mkdtempSync(join(this.folder, 'work-'));
    cpSync(this.#checkout, work, { recursive: true });
    return work;
  };

  /** Makes the agent’s patch the one that results from this edit of the initial files. */
  readonly edit = (change: (folder: string) => void): void => {
    const work = this.checkout();
    change(work);
    const diff = 'git diff --cached --binary --full-index HEAD';
    const patch = shellIn(work, `git add --all && exec ${diff}`);
    this.belay.sandboxes.patch = () => [patch];
  };

  /** What fetches and pushes have left behind. */
  readonly scratch = (): string[] => readdirSync(join(this.belay.data, 'git'));

  readonly prepare = (session: string, body: object) =>
    this.belay.json<PreparedPublish & { detail: string }>(
      'POST',
      `/api/sessions/${session}/publish/prepare`,
      body,
    );

  readonly publish = (session: string, body: object) =>
    this.belay.json<PublishedChange & { detail: string }>(
      'POST',
      `/api/sessions/${session}/publish`,
      body,
    );
}
