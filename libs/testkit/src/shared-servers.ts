import { PostgresCluster, until } from '@belay/testing';
import { BelayServer } from './belay-server.js';

/** Where a server runs: with these variables, and started by this command (see `BelayServer`). */
export interface ServerPlace {
  environment?: Record<string, string>;
  within?: readonly string[];
}

/** Servers of one database, and of one data folder unless their files are in a bucket, each a process. The first of them serves. */
export class SharedServers {
  readonly all: BelayServer[] = [];
  #cluster: PostgresCluster | undefined;
  #database = '';

  constructor(private readonly environment: Record<string, string> = {}) {}

  get first(): BelayServer {
    return this.#at(0);
  }

  get second(): BelayServer {
    return this.#at(1);
  }

  async start(count: number): Promise<void> {
    await this.startDatabase();
    while (this.all.length < count) await this.add();
  }

  /** As `start` does, but at an address of this machine if one is given. Returns its DATABASE_URL. */
  async startDatabase(host?: string): Promise<string> {
    this.#cluster = await PostgresCluster.start(host);
    this.#database = await this.#cluster.database();
    return this.#database;
  }

  async add(place: ServerPlace = {}): Promise<BelayServer> {
    const server = new BelayServer(
      {
        ...this.environment,
        DATABASE_URL: this.#database,
        BELAY_PEER_URL: 'tcp://127.0.0.1:0',
        ...(this.all[0] && !this.environment['BELAY_STORAGE'] && { BELAY_DATA: this.all[0].data }),
        ...place.environment,
      },
      undefined,
      place.within,
    );
    await this.startAgain(server);
    this.all.push(server);
    return server;
  }

  /** Starts a server that has ended. Resolves when it takes sessions. */
  async startAgain(server: BelayServer): Promise<void> {
    const before = this.all.length > 0 ? await this.#working() : [];
    await server.start();
    const isNew = (id: string) => !before.includes(id);
    await until('it takes sessions', async () => (await this.#working()).some(isNew), {
      timeoutMs: 240_000,
      state: () => server.log,
    });
  }

  /** The id of each session’s server; null for a session without one. */
  async owners(): Promise<Map<string, string | null>> {
    const rows = await this.#query('select id, owner from session');
    return new Map(rows.map(({ id, owner }) => [String(id), owner as string | null]));
  }

  /** The ids of the servers, also of those that were killed a short while ago. */
  async ids(): Promise<string[]> {
    return (await this.#query('select id from server')).map(({ id }) => String(id));
  }

  /** The id of the server that leads. */
  async lead(): Promise<string> {
    const [row] = await this.#query('select server from lease');
    return String(row?.['server']);
  }

  async dispose(): Promise<void> {
    for (const server of this.all.toReversed()) await server.dispose();
    await this.#cluster?.stop();
  }

  /** The ids of the servers that have said how many sandboxes they may have. */
  async #working(): Promise<string[]> {
    const rows = await this.#query('select id from server where capacity > 0');
    return rows.map(({ id }) => String(id));
  }

  async #query(text: string): Promise<Record<string, unknown>[]> {
    return (await this.#cluster?.query(this.#database, text)) ?? [];
  }

  #at(place: number): BelayServer {
    const server = this.all[place];
    if (!server) throw new Error('Too few servers were started.');
    return server;
  }
}
