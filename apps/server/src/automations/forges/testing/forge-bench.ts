import { startForge, type PlayedForge, type PlayedKind, type PlayedLevel } from '@belay/testkit';
import type { ForgeUser } from '@belay/protocol';
import { Resolver } from '../../../egress/resolver.js';
import { GitHostRequests } from '../../../git/git-host-request.js';
import { GitHosts } from '../../../git/git-hosts.js';
import { GitHttp } from '../../../git/git-http.js';
import { TestLogs } from '../../../testing/logs.js';
import { Clock } from '../../clock.js';
import type { ForgeReader } from '../forge-polling.js';
import { ForgeSources } from '../forge-sources.js';
import type { Forge } from '../forge.js';
import { Forges } from '../forges.js';
import { HostPauses } from '../host-pauses.js';

/** A played git host, and the server’s clients of it over a real database. */
export class ForgeBench {
  readonly logs = new TestLogs();
  played!: PlayedForge;
  hosts!: GitHosts;
  forges!: Forges;
  sources!: ForgeSources;
  #http!: GitHttp;

  async start(
    kind: PlayedKind,
    options: {
      repository?: string;
      level?: PlayedLevel;
      clock?: Clock;
      publicUrl?: string;
    } = {},
  ): Promise<this> {
    const { repository = 'acme/api', level, clock = new Clock(), publicUrl } = options;
    const { config, database } = await this.logs.open({
      ...(publicUrl !== undefined && { BELAY_PUBLIC_URL: publicUrl }),
    });
    this.played = await startForge(kind, { repository, ...(level && { level }) });
    const documents = await this.logs.documents();
    const resolver = new Resolver();
    this.#http = new GitHttp(config, resolver);
    this.hosts = new GitHosts(documents);
    await this.hosts.set(this.host, {
      kind,
      private: true,
      insecure: true,
      token: this.played.token,
      scope: 'admin',
    });
    const requests = new GitHostRequests(this.#http);
    this.forges = new Forges(this.hosts, requests, new HostPauses(clock));
    this.sources = new ForgeSources(config, database, documents, this.forges, resolver, clock);
    return this;
  }

  get host(): string {
    return this.played.git.host;
  }

  open(path = this.played.state.path): Forge & ForgeReader {
    return this.forges.open(this.host, path);
  }

  /** A user of the host as events name them. */
  user(name: string): ForgeUser {
    const { id, kind } = this.played.state.who(name);
    return { id: String(id), name, isBot: kind === 'bot' };
  }

  /** Pushes a branch that changes the second line of `src/sum.js`, and opens its pull request. */
  pull(by: string, { fork = false } = {}) {
    const { state } = this.played;
    const files = { 'src/sum.js': `export function sum(a, b) {\n  return a + b; // ${by}\n}\n` };
    const made = fork ? state.fork({ by }) : undefined;
    const branch = `fix-${by}`;
    const sha = state.push(branch, { by, files, ...(made && { fork: made }) });
    const title = 'Fix sum';
    return {
      sha,
      branch,
      fork: made,
      pull: state.openPull({ by, branch, title, fork: made ?? null }),
    };
  }

  async close(): Promise<void> {
    await this.played.close();
    await this.#http.onApplicationShutdown();
    await this.logs.close();
  }
}
