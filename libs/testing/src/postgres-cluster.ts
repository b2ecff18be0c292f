import { spawn, execFile, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.js';

const run = promisify(execFile);
/** PostgreSQL refuses to run as root; the user `nobody` exists everywhere. */
const nobody = { uid: 65_534, gid: 65_534 };

/**
 * A PostgreSQL cluster for tests: in a temporary folder, on a Unix socket there or at an address of this machine, removed
 * by `stop`.
 */
export class PostgresCluster {
  #server: ChildProcess | undefined;
  #databases = 0;
  readonly #password = randomBytes(16).toString('hex');

  private constructor(
    private readonly folder: string,
    private readonly address: { host: string; port: number } | undefined,
  ) {}

  /** At an address of this machine, it wants the password of its URLs. */
  static async start(host?: string): Promise<PostgresCluster> {
    const address = host === undefined ? undefined : { host, port: await freePort() };
    const cluster = new PostgresCluster(mkdtempSync(join(tmpdir(), 'belay-pg-')), address);
    await cluster.#start();
    return cluster;
  }

  /** The DATABASE_URL of the database that new ones are copied from. */
  get template(): string {
    return this.#url('template1');
  }

  /** Creates a database, as the template is by now or empty; returns its DATABASE_URL. */
  async database(from: 'template' | 'nothing' = 'template'): Promise<string> {
    const name = `belay${(this.#databases += 1)}`;
    const template = from === 'template' ? 'template1' : 'template0';
    await this.query(this.#url('postgres'), `create database ${name} template ${template}`);
    return this.#url(name);
  }

  /** The rows of a query to the database with this DATABASE_URL. */
  async query(url: string, text: string): Promise<Record<string, unknown>[]> {
    // Most tests that use this library need no database.
    const { Client } = (await import('pg')).default;
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  }

  async stop(): Promise<void> {
    if (this.#server && this.#server.exitCode === null) {
      const ended = once(this.#server, 'exit');
      this.#server.kill('SIGQUIT'); // Immediately: no data is kept.
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    const bin = binaries();
    const user = process.getuid?.() === 0 ? nobody : undefined;
    if (user) chownSync(this.folder, user.uid, user.gid);
    const data = join(this.folder, 'data');
    const secret = join(this.folder, 'password');
    writeFileSync(secret, this.#password);
    const access = ['-U', 'belay', '-A', 'trust', `--pwfile=${secret}`];
    const init = ['-D', data, ...access, '-E', 'UTF8', '--no-locale', '-N'];
    await run(join(bin, 'initdb'), init, { ...user, cwd: this.folder });
    const { host = '', port = 5432 } = this.address ?? {};
    if (host) appendFileSync(join(data, 'pg_hba.conf'), 'host all all all scram-sha-256\n');
    const reached = ['-c', `listen_addresses=${host}`, '-p', `${port}`];
    const options = ['-D', data, '-k', this.folder, '-F', ...reached];
    this.#server = spawn(join(bin, 'postgres'), options, {
      ...user,
      cwd: this.folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    process.once('exit', () => this.#server?.kill('SIGQUIT'));
    await this.#ready(this.#server);
  }

  #ready(server: ChildProcess): Promise<void> {
    let said = '';
    return new Promise((resolve, reject) => {
      server.on('exit', () => reject(new Error(`PostgreSQL ended: ${said}`)));
      server.stderr?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (said.includes('database system is ready to accept connections')) resolve();
      });
    });
  }

  readonly #url = (name: string): string =>
    this.address
      ? `postgres://belay:${this.#password}@${this.address.host}:${this.address.port}/${name}`
      : `postgres://belay@localhost/${name}?host=${encodeURIComponent(this.folder)}`;
}

/**
 * The folder of PostgreSQL’s programs: the one set by the machine’s preparation, or Debian’s
 * newest.
 */
function binaries(): string {
  const given = process.env['BELAY_TEST_POSTGRES'];
  if (given) return given;
  const debian = '/usr/lib/postgresql';
  const [newest] = readdirSync(debian).toSorted((a, b) => Number(b) - Number(a));
  return join(debian, newest ?? '', 'bin');
}
