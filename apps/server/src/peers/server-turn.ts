import type { Server } from 'node:http';
import { AppError } from '@belay/protocol';
import type { Config } from '../config.js';
import { endBySignal } from '../end-by-signal.js';
import { endSignals } from '../end-signals.js';
import { endWithCode } from '../end-with-code.js';
import type { ServerLogger } from '../server-logger.js';
import { Database } from '../storage/database.js';
import { lease } from '../storage/lease.js';
import { untilConnected } from '../storage/until-connected.js';
import { serverId } from '../server-id.js';
import { ConnectionRelay } from './connection-relay.js';
import { Membership } from './membership.js';
import { PeerPort } from './peer-port.js';
import { ServerRows, type LeaseHolder } from './server-rows.js';
import { dataFolderName, sharedFiles } from './shared-files.js';

/**
 * This server’s turn to lead those of its database, and to work on its sessions. Until then it stands by: it follows what
 * it keeps in memory, and passes the connections that it gets on to the server whose turn it is.
 */
export class ServerTurn {
  readonly #relay: ConnectionRelay;
  readonly #membership: Membership;

  private constructor(
    private readonly config: Config,
    private readonly logger: ServerLogger,
    private readonly database: Database,
    private readonly rows: ServerRows,
    private readonly port: PeerPort | undefined,
  ) {
    this.#membership = new Membership(rows, {
      moved: (holder) => this.#moved(holder),
      suspended: (reason) => this.#beginAnew(reason),
    });
    this.#relay = new ConnectionRelay(
      () => this.#membership.holder,
      () => ({
        hasDatabase: this.#membership.isCurrent,
        isEnding: endSignals.received !== undefined,
      }),
    );
    endSignals.closeBy(() => this.end());
  }

  /**
   * Resolves when this server is one of the database’s: it has its turn, or stands by. Throws `conflict` when another
   * server uses the database that does not share it, or has other files.
   */
  static async join(config: Config, logger: ServerLogger): Promise<ServerTurn> {
    if (config.databaseUrl) await untilConnected(config.databaseUrl, (said) => logger.warn(said));
    const database = new Database(config);
    await database.migrated();
    const { peerAddress } = config;
    const peers = peerAddress === undefined ? undefined : await PeerPort.open(config, peerAddress);
    const rows = new ServerRows(database.kysely, {
      id: serverId,
      address: peers?.address ?? null,
      files: peers ? sharedFiles(config) : dataFolderName(config.data),
      key: peers?.key ?? '',
    });
    const turn = new ServerTurn(config, logger, database, rows, peers);
    try {
      await turn.#join();
    } catch (error) {
      await turn.end();
      throw error;
    }
    return turn;
  }

  /** Resolves when it is this server’s turn. */
  begun(): Promise<void> {
    return this.#membership.turn();
  }

  /** Where this server passes connections on; undefined for one that shares no database. */
  get relayPort(): number | undefined {
    return this.port && this.#relay.port;
  }

  /** Frees the port of this server’s clients for the server itself, and returns it; undefined if it was not in use. */
  freePort(): number | undefined {
    return this.port && this.#relay.stop();
  }

  /**
   * Resolves when the other servers know that this one is alive, and it knows who leads: from then on, it may have sessions
   * and containers, and begins anew when its beats are not stored.
   */
  beforeWork(): Promise<void> {
    return this.#membership.work();
  }

  /** This server works on the sessions that are handed over to it, also before it is its turn to lead. */
  work(http: Server): void {
    this.port?.work(http);
  }

  /** The server’s work has begun, and goes on as long as it has its turn. */
  serve(http: Server): void {
    this.port?.serve(http);
  }

  /** Lets another server have its turn. */
  async end(): Promise<void> {
    this.port?.close();
    await this.#membership.close();
    await this.database.onApplicationShutdown();
  }

  async #join(): Promise<void> {
    const { config, port } = this;
    await this.rows.add();
    const stranger = port && (await this.rows.stranger());
    if (stranger) throw new AppError('conflict', otherFiles(stranger));
    lease.standBy();
    this.#membership.start();
    if (!port) return this.begun();
    await this.#relay.listen(config.port, config.host);
    process.stdout.write(`${JSON.stringify({ ready: false, port: this.#relay.port })}\n`);
  }

  #moved(holder: LeaseHolder | undefined): void {
    this.#relay.keepOnly(holder?.id);
    if (!this.port || !holder) return;
    const { id, address, version } = holder;
    if (id === serverId) this.logger.log('This server takes its turn.');
    else this.logger.log(`The server at ${address} (${version}) serves; this one stands by.`);
  }

  /** As a new program in the same process: all that this one was about to do ends at once, with its connections. */
  #beginAnew(reason: string): void {
    // Once the signals were handled that came while it was stopped: a new program would not know of them.
    setImmediate(() => {
      if (endSignals.received) return endBySignal(endSignals.received);
      endSignals.leave();
      this.logger.error(`This server stops what it does and begins anew. ${reason}`);
      const { execPath, execArgv, argv } = process;
      process.execve?.(execPath, [execPath, ...execArgv, ...argv.slice(1)]);
      endWithCode(1);
    });
  }
}

const otherFiles = (address: string): string =>
  `The server at ${address} uses the same database and other files: give all servers the same BELAY_STORAGE and BELAY_SECRET_KEY, or the same data folder as BELAY_DATA.`;
