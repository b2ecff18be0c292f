import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '../product-node.mjs';
import { serverProgram } from './server-build.ts';

/** The line with which a server reports that it is ready. */
export interface ServerReady {
  ready: true;
  url: string;
  token: string;
  code: string;
}

/** The server from its sources. It is ended as by Ctrl-C, which leaves its agents running. */
export class DevServer {
  #child: ChildProcess | undefined;
  #ready: Promise<ServerReady | undefined> = Promise.resolve(undefined);
  /** Kept across restarts, because the names of login cookies contain it. */
  #port: string;
  readonly #nodeArguments: readonly string[];

  constructor(port: number, nodeArguments: readonly string[]) {
    this.#port = String(port);
    this.#nodeArguments = [...productArguments(), '--enable-source-maps', ...nodeArguments];
  }

  /** Pending while the server starts; undefined when it is not running. */
  get ready(): Promise<ServerReady | undefined> {
    return this.#ready;
  }

  /** Ends the running server and starts a new one; resolves to undefined if that ends at once. */
  restart(environment: Record<string, string>): Promise<ServerReady | undefined> {
    const ended = this.end();
    this.#ready = ended.then(() => this.#start(environment));
    return this.#ready;
  }

  async end(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.#ready = Promise.resolve(undefined);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }

  #start(environment: Record<string, string>): Promise<ServerReady | undefined> {
    const child = spawn(process.execPath, [...this.#nodeArguments, serverProgram], {
      // At a terminal, the server asks its questions there.
      stdio: [process.stdin.isTTY ? 'inherit' : 'ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        ...environment,
        NODE_ENV: 'production',
        BELAY_HOST: '127.0.0.1',
        BELAY_PORT: this.#port,
      },
    });
    this.#child = child;
    return new Promise((resolve) => {
      createInterface(child.stdout).on('line', (line) => {
        const ready = readyLine(line);
        if (!ready) return void process.stdout.write(`${line}\n`);
        this.#port = new URL(ready.url).port;
        resolve(ready);
      });
      child.once('exit', (code, signal) => {
        resolve(undefined);
        if (this.#child !== child) return;
        this.#child = undefined;
        this.#ready = Promise.resolve(undefined);
        process.stderr.write(
          `✗ server: it ended with ${signal ?? code}; the next change starts it again.\n`,
        );
      });
    });
  }
}

/** See docs/server.md, “Memory”. */
function productArguments(): string[] {
  const file = join(root, 'apps/server/node-arguments.json');
  return JSON.parse(readFileSync(file, 'utf8')) as string[];
}

function readyLine(line: string): ServerReady | undefined {
  try {
    const value = JSON.parse(line) as ServerReady;
    return value.ready ? value : undefined;
  } catch {
    return undefined;
  }
}
