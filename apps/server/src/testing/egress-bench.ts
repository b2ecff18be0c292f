import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { Event, EgressPolicy } from '@belay/protocol';
import { memoryConnections } from '@belay/rpc';
import { until } from '@belay/testing';
import { ApprovalService } from '../approvals/approval.service.js';
import { RulesStore } from '../approvals/rules.store.js';
import { TestLogs } from './logs.js';
import { EgressService } from '../egress/egress.service.js';
import type { Resolver } from '../egress/resolver.js';

/**
 * The egress of a real log for session `s`. Every name resolves to this machine, as do the host’s
 * registries.
 */
export class EgressBench {
  readonly logs = new TestLogs();
  egress!: EgressService;
  #approvals!: ApprovalService;
  readonly #servers: Server[] = [];
  readonly #streams: Duplex[] = [];

  /** `registries` may be at 127.0.0.1, because the host’s own settings name them. */
  async open(
    egress: Partial<EgressPolicy>,
    registries: readonly string[],
    { resolver = here, env = {} }: { resolver?: Resolver; env?: Record<string, string> } = {},
  ): Promise<void> {
    const own = { HOME: '/nowhere', PIP_EXTRA_INDEX_URL: registries.join(' ') };
    await this.logs.open({ ...own, ...env });
    const { log, store, database, config } = this.logs;
    this.#approvals = new ApprovalService(log, store, new RulesStore(database, log));
    this.#approvals.onModuleInit();
    this.egress = new EgressService(log, this.#approvals, config, resolver, store);
    await log.drained();
    await this.logs.session('s', { approvals: 'auto', egress });
  }

  async listen(server: Server): Promise<number> {
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  /** Connects as an agent does: with a stream over its connection. */
  async connect(host: string, port: number): Promise<Duplex> {
    const connections = memoryConnections({ server: {}, agent: {} });
    connections.server.accept('egress', (meta, stream) => this.egress.connect('s', meta, stream));
    const stream = await connections.agent.open('egress', { host, port });
    this.#streams.push(stream);
    return stream;
  }

  /** Resolves to the `egress` events once there are at least `count`. */
  events(count: number): Promise<Event[]> {
    return until('egress events', async () => {
      await this.egress.flush();
      const all = await this.logs.log.read('s', { after: 0 });
      const found = all.filter(({ action }) => action === 'egress');
      return found.length >= count ? found : undefined;
    });
  }

  async close(): Promise<void> {
    for (const stream of this.#streams) stream.destroy();
    this.#approvals?.onModuleDestroy();
    await this.egress?.beforeApplicationShutdown();
    for (const server of this.#servers) {
      if ('closeAllConnections' in server) (server.closeAllConnections as () => void)();
      server.close();
    }
    await this.logs.close();
  }
}

const here: Resolver = { addresses: () => Promise.resolve(['127.0.0.1']) };

/** A key with a self-signed certificate for any name. */
export function certificate(): { key: Buffer; cert: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), 'belay-certificate-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  try {
    const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2';
    const options = [...request.split(' '), '-subj', '/CN=test', '-keyout', key, '-out', cert];
    execFileSync('openssl', options, { stdio: 'pipe' });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
