import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient, LiveConnection, type BelayClient } from '@belay/client';
import { freePort } from '@belay/testing';
import { removeLabelled, repositoryRoot } from '@belay/testkit';

const data = '/var/lib/belay';
const certificates = '/usr/local/share/ca-certificates';

export interface ComposedOptions {
  /** Stand in for those of a hub: Debian with Node and npm, and PostgreSQL. */
  images: { node: string; postgres: string };
  /** The variables with which `docker compose` runs. */
  compose: Record<string, string>;
  dockerHost: string;
}

/**
 * A project of `docker/compose.yaml` with a name, volumes and a port of its own. Its images are made from this machine’s,
 * because a test needs no hub.
 */
export class ComposedBelay {
  /** For `Followed`; the server’s own log is that of its container. */
  readonly log = '';
  /** The folder in which a reader of the docs page works. */
  readonly #folder: string;
  readonly #environment: Record<string, string>;
  readonly #project = `belay-test-${randomBytes(3).toString('hex')}`;
  #client: BelayClient | undefined;
  #live: LiveConnection | undefined;

  constructor(folder: string, { images, compose, dockerHost }: ComposedOptions) {
    this.#folder = folder;
    const local = join(folder, 'local.yaml');
    writeFileSync(local, localSettings(images.node));
    this.#environment = {
      ...compose,
      COMPOSE_FILE: `${join(repositoryRoot, 'docker/compose.yaml')}:${local}`,
      COMPOSE_PROJECT_NAME: this.#project,
      BELAY_SERVER_IMAGE: 'belay/test-server',
      POSTGRES_IMAGE: images.postgres,
      DOCKER_SOCKET: dockerHost.replace('unix://', ''),
    };
  }

  /** Builds the image of the server from this checkout, unless nothing of it changed. */
  async build(): Promise<void> {
    this.#environment['BELAY_PORT'] = String(await freePort());
    await this.compose('build', 'server');
  }

  get client(): BelayClient {
    if (!this.#client) throw new Error('The server was not started.');
    return this.#client;
  }

  get live(): LiveConnection {
    if (!this.#live) throw new Error('The server was not started.');
    return this.#live;
  }

  /** Resolves when the services are healthy, and this process is connected. */
  async up(...options: string[]): Promise<void> {
    await this.compose('up', '--detach', '--no-build', '--wait', ...options);
    await this.connect();
  }

  /** To the server that runs now. */
  async connect(): Promise<void> {
    const saved = await this.compose('exec', '-T', 'server', 'cat', `${data}/server.json`);
    const { token } = JSON.parse(saved) as { token: string };
    const address = { url: `http://127.0.0.1:${this.#environment['BELAY_PORT']}`, token };
    this.#live?.close();
    this.#client = createClient(address);
    this.#live = new LiveConnection(address);
  }

  /** Puts a script for the scripted model beside the server’s data; returns the model’s name. */
  async script(name: string, turns: object[]): Promise<string> {
    const file = `${data}/${name}.yaml`;
    const write = ['exec', '-T', 'server', 'tee', file];
    await this.#run('docker', ['compose', ...write], JSON.stringify({ turns }));
    return `scripted:${file}`;
  }

  /** Runs `docker compose`; returns its standard output. */
  compose(...args: string[]): Promise<string> {
    return this.#run('docker', ['compose', ...args]);
  }

  /** Runs commands as a reader of the docs page would; returns their output. */
  shell(commands: string): Promise<string> {
    return this.#run('bash', ['-euo', 'pipefail', '-c', commands]);
  }

  /** Removes everything of the project and of its server. */
  async remove(): Promise<void> {
    this.#live?.close();
    await this.compose('down', '--timeout', '5');
    const instance = createHash('sha256').update(`${this.#project}_sockets`).digest('hex');
    await removeLabelled(`belay.instance=${instance.slice(0, 12)}`);
    await this.compose('down', '--volumes');
  }

  async #run(command: string, args: string[], input = ''): Promise<string> {
    const env = { ...process.env, ...this.#environment };
    const options = { cwd: this.#folder, env, maxBuffer: 64 * 2 ** 20 };
    const running = promisify(execFile)(command, args, options);
    running.child.stdin?.end(input);
    return (await running).stdout;
  }
}

/** What differs from the compose file: bases without a hub, this machine’s certificates, and no settings of a developer. */
function localSettings(node: string): string {
  const mounts = existsSync(certificates) ? [`${certificates}:${certificates}:ro`] : [];
  return `
services:
  server:
    env_file: !reset null
    environment: { BELAY_POOL: '0' }
    build: { args: { NODE_IMAGE: '${node}', DEBIAN_IMAGE: '${node}' } }
    volumes: ${JSON.stringify(mounts)}
`;
}
