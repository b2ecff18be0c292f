import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createClient, LiveConnection, type BelayClient } from '@belay/client';
import { freePort, until } from '@belay/testing';
import { removeSandboxes } from './engine.js';
import { built, prepared, repositoryRoot } from './environment.js';

interface Running {
  child: ChildProcess;
  url: string;
  token: string;
  client: BelayClient;
  live: LiveConnection;
}

interface SavedTokens {
  token: string;
  viewerToken: string;
}

/** The built server as a child process, on a free port and with a temporary data folder. */
export class BelayServer {
  readonly data = mkdtempSync(join(tmpdir(), 'belay-'));
  #running: Running | undefined;
  #log = '';

  /**
   * `program` returns the arguments of node; by default the built server. Another program must take
   * the same environment and report readiness in the same way. `within` is a command that becomes
   * the program that it is given, such as nsenter.
   */
  constructor(
    private readonly environment: Record<string, string> = {},
    private readonly program: () => string[] = builtServer,
    private readonly within: readonly string[] = [],
  ) {}

  get url(): string {
    return this.#now.url;
  }
  get token(): string {
    return this.#now.token;
  }
  /** The token of a viewer, who can watch but not change anything. */
  get viewerToken(): string {
    return this.#saved?.viewerToken ?? '';
  }
  get client(): BelayClient {
    return this.#now.client;
  }
  get live(): LiveConnection {
    return this.#now.live;
  }
  get pid(): number {
    return this.#now.child.pid ?? 0;
  }
  /** The server’s standard error so far. */
  get log(): string {
    return this.#log;
  }

  /**
   * Starts the server, or restarts it with the same data and port. Resolves when it is ready, or passes connections on to
   * another server of the same data folder.
   */
  async start(): Promise<void> {
    const port = this.#running ? new URL(this.#running.url).port : String(await freePort());
    const [command, ...rest] = [...this.within, process.execPath, ...this.program()];
    const child = spawn(command ?? '', rest, {
      env: { ...process.env, ...this.#settings(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#log += text));
    const ready = await new Promise<{ url: string; token: string }>((done, failed) => {
      createInterface(child.stdout).on('line', (line) => done(this.#addressIn(line)));
      child.once('exit', (code) =>
        failed(new Error(`The server ended with ${code}:\n${this.#log}`)),
      );
    });
    const address = { url: ready.url, token: ready.token };
    const live = new LiveConnection(address);
    this.#running = { child, ...address, client: createClient(address), live };
  }

  /** A server that passes connections on prints no token, and writes it down after it has printed its port. */
  async #addressIn(line: string): Promise<{ url: string; token: string }> {
    const report = JSON.parse(line) as { url?: string; token?: string; port?: number };
    const host = this.environment['BELAY_HOST'] ?? '127.0.0.1';
    const { url = `http://${host}:${report.port}`, token } = report;
    if (token !== undefined) return { url, token };
    const saved = await until('the token is written', () => this.#saved, {
      state: () => this.#log,
    });
    return { url, token: saved.token };
  }

  /** Ends the server as Ctrl-C does, or at once with SIGKILL. Its sandboxes keep running. */
  async end(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const { child, live } = this.#now;
    live.close();
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill(signal);
    // Otherwise one that a test has stopped would not end.
    child.kill('SIGCONT');
    await exit;
  }

  /** Ends the server and removes its sandboxes, volumes and data. */
  async dispose(): Promise<void> {
    if (this.#running) await this.end();
    await removeSandboxes(this.data);
    await rm(this.data, { recursive: true, force: true, maxRetries: 10 });
  }

  /** Undefined before the first start. */
  get #saved(): SavedTokens | undefined {
    const file = join(this.environment['BELAY_DATA'] ?? this.data, 'server.json');
    if (!existsSync(file)) return undefined;
    return JSON.parse(readFileSync(file, 'utf8')) as SavedTokens;
  }

  get #now(): Running {
    if (!this.#running) throw new Error('The server was not started.');
    return this.#running;
  }

  #settings(port: string): Record<string, string> {
    return {
      BELAY_PORT: port,
      BELAY_DATA: this.data,
      BELAY_IMAGE: prepared('BELAY_TEST_IMAGE'),
      BELAY_RUNTIME: prepared('BELAY_RUNTIME'),
      BELAY_SITE: join(repositoryRoot, 'apps/web/dist/site'),
      BELAY_EXAMPLES: join(repositoryRoot, 'examples'),
      BELAY_CLI: join(repositoryRoot, 'apps/cli/bin/belay.mjs'),
      BELAY_POOL: '0',
      ...this.environment,
    };
  }
}

/** With the same options of node as in the product. */
function builtServer(): string[] {
  const options = readFileSync(join(repositoryRoot, 'apps/server/node-arguments.json'), 'utf8');
  return [...(JSON.parse(options) as string[]), built('apps/server/dist/bundle/main.cjs')];
}
