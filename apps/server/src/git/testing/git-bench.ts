import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GitServer } from '@belay/testkit';
import { Config } from '../../config.js';
import { Resolver } from '../../egress/resolver.js';
import { Database } from '../../storage/database.js';
import { Documents } from '../../storage/documents.js';
import { GitHosts } from '../git-hosts.js';
import { GitHttp } from '../git-http.js';
import { RepositoryFetcher, type FetchOptions, type WantedCommit } from '../repository-fetcher.js';
import { SmartHttp } from '../smart-http.js';

/** The server’s side of git, over a real git server on loopback. */
export class GitBench {
  readonly data = mkdtempSync(join(tmpdir(), 'belay-git-bench-'));
  readonly server = new GitServer();
  readonly config = new Config({ BELAY_DATA: this.data });
  readonly resolver = new Resolver();
  readonly http = new GitHttp(this.config, this.resolver);
  readonly smart = new SmartHttp(this.http);
  readonly fetcher = new RepositoryFetcher(this.config, this.smart, {
    otherIds: () => Promise.resolve(new Set()),
  } as never);
  hosts!: GitHosts;
  readonly #database = new Database(this.config);

  /** Starts the server and allows its host, as an admin would. */
  async start({ token = true } = {}): Promise<this> {
    await this.server.start();
    this.hosts = new GitHosts(await Documents.load(this.config, this.#database));
    await this.hosts.set(this.server.host, {
      private: true,
      insecure: true,
      ...(token && { token: this.server.token }),
    });
    return this;
  }

  async fetch(
    path: string,
    { ref, commit, ...more }: Partial<FetchOptions> & WantedCommit = {},
  ): Promise<Awaited<ReturnType<RepositoryFetcher['fetch']>>> {
    const { signal = AbortSignal.timeout(20_000) } = more;
    const remote = this.hosts.remote(this.server.url(path), 'operate');
    const found = await this.fetcher.find(remote, { ref, commit }, signal);
    return this.fetcher.fetch(found, { maxBytes: 2 ** 26, ...more, signal });
  }

  async close(): Promise<void> {
    await this.http.onApplicationShutdown();
    await this.server.close();
    await this.#database.onApplicationShutdown();
    rmSync(this.data, { recursive: true, force: true });
  }
}
