import { Readable } from 'node:stream';
import { AppError, ignoreError, type hostCalls, type machineServerCalls } from '@belay/protocol';
import type { RelayOptions, RpcConnection, RpcStream, Servers } from '@belay/rpc';
import type { ContainerHost, Seen } from '../container-host.js';
import { followHost } from '../follow-host.js';
import { ContainerRelays } from './container-relays.js';
import { MachineRules, type MachineRulesOptions } from './machine-rules.js';

export interface ServedHostOptions extends MachineRulesOptions {
  host: ContainerHost;
  /** The server, and the token that identifies this machine to it. */
  server: Pick<RelayOptions, 'token' | 'url'>;
  /** A container has this name for people now. */
  named(label: string): unknown;
  /** A container ended by itself, with the cause. */
  ended(label: string, why: string): unknown;
}

type Connection = RpcConnection<typeof hostCalls, typeof machineServerCalls>;

/**
 * Serves the containers of this machine to a server, which is not trusted: it uses them as `MachineRules` allow, and
 * reaches nothing else of their host. They keep running when this process is killed: the next one admits the dials of
 * those that it finds. What is removed, the server decides.
 */
export class ServedHost {
  readonly #options: ServedHostOptions;
  readonly #rules: MachineRules;
  readonly #relays: ContainerRelays;
  /** The names for people of the containers that run, by id. */
  readonly #labels = new Map<string, string>();
  /** The tars of calls that are to come. */
  readonly #tars = new Map<string, RpcStream>();
  readonly #closing = new AbortController();

  /** Throws `unavailable` when the host cannot be asked. */
  static async open(options: ServedHostOptions): Promise<ServedHost> {
    const served = new ServedHost(options);
    await served.#follow();
    return served;
  }

  private constructor(options: ServedHostOptions) {
    this.#options = options;
    this.#rules = new MachineRules(options);
    this.#relays = new ContainerRelays(options.server);
    options.host.onDial((id, dial) => this.#relays.dialled(id, dial));
  }

  /** The ids of the containers that run. */
  get running(): string[] {
    return [...this.#labels.keys()];
  }

  get labels(): string[] {
    return [...this.#labels.values()];
  }

  serve(connection: Connection): void {
    connection.serve(this.#handlers(connection));
    connection.accept('host.fill', async ({ fill }, stream) => {
      this.#tars.set(fill, stream);
      stream.once('close', () => this.#tars.delete(fill));
    });
  }

  async remove(id: string): Promise<void> {
    this.#labels.delete(id);
    this.#relays.close(id);
    await this.#options.host.remove(id);
  }

  /** Removes all containers, and serves nothing any more; their files stay. */
  async end(): Promise<void> {
    this.#closing.abort(ending());
    await Promise.all(this.running.map((id) => this.remove(id)));
    await this.close();
  }

  /** Serves nothing any more; containers go on. */
  async close(): Promise<void> {
    this.#closing.abort(ending());
    await this.#options.host.close();
  }

  #handlers(connection: Connection): Servers<typeof hostCalls> {
    const { host } = this.#options;
    const rules = this.#rules;
    return {
      ...this.#starts(),
      'host.checks': async () => ({ checks: await host.checks() }),
      'host.watch': async ({ watch }, { signal }) => {
        const tell = (seen: Seen | 'synced') => connection.call('host.seen', { watch, seen });
        for await (const seen of host.watch(AbortSignal.any([signal, this.#closing.signal])))
          await tell(seen === 'synced' ? seen : { id: seen.id, state: seen.state });
        return {};
      },
      'host.look': async ({ id }) => {
        // What is removed now has not ended by itself.
        this.#closing.signal.throwIfAborted();
        return host.look(id);
      },
      'host.browser': async ({ id }) => ({ endpoint: await host.browser(id) }),
      'host.hasBrowser': async ({ id }) => ({ has: await host.hasBrowser(id) }),
      'host.remove': ({ id }) => done(this.remove(id)),
      'host.hasFiles': async ({ files }) => ({ has: await host.hasFiles(rules.files(files)) }),
      'host.storedFiles': async () => {
        const stored = await host.storedFiles();
        return { files: stored.flatMap((files) => rules.nameOf(files) ?? []) };
      },
      'host.removeFiles': async ({ files }) => done(host.removeFiles(rules.files(files))),
      'host.fill': ({ name, fill }) => done(this.#fill(name, fill)),
      'host.removeKeptFiles': ({ name }) => done(host.keptFiles.remove(rules.keptFiles(name))),
      'host.keepOnlyFiles': ({ names }) =>
        done(host.keptFiles.keepOnly(names.map((name) => rules.keptFiles(name)))),
      'host.imageId': async ({ image }) => ({
        id: (rules.allows(image) && (await host.images.id(rules.image(image)))) || null,
      }),
      'host.hasImage': async ({ image }) => ({
        has: rules.allows(image) && (await host.images.has(rules.image(image))),
      }),
      'host.firstPath': async ({ image, paths }) => ({
        path: (await host.images.firstPath(rules.image(image), paths)) ?? null,
      }),
      'host.fetchImage': async ({ image }) => ({
        fetched: await host.images.fetch(rules.image(image)),
      }),
    };
  }

  async #fill(name: string, fill: string): Promise<void> {
    const stream = this.#tars.get(fill);
    if (!stream) throw new AppError('conflict', 'The tar of these files is not here.');
    // If this fails, the answer says why, and the server ends the stream.
    const tar = Readable.from(stream.iterator({ destroyOnReturn: false }));
    await this.#options.host.keptFiles.fill(this.#rules.keptFiles(name), tar);
    stream.end();
  }

  #starts(): Pick<Servers<typeof hostCalls>, 'host.rename' | 'host.start' | 'host.startProgram'> {
    const { host, named } = this.#options;
    const { signal: closing } = this.#closing;
    const name = (id: string, label: string) => {
      this.#labels.set(id, label);
      named(label);
    };
    const begun = async ({ id, label }: { id: string; label: string }, start: Promise<void>) => {
      await start;
      if (!this.#labels.has(id)) name(id, label);
      return {};
    };
    return {
      'host.start': async (wanted, { signal }) => {
        const spec = this.#rules.container(wanted);
        return begun(spec, host.start(spec, AbortSignal.any([signal, closing])));
      },
      'host.startProgram': async (wanted, { signal }) => {
        const spec = this.#rules.program(wanted);
        return begun(spec, host.startProgram(spec, AbortSignal.any([signal, closing])));
      },
      'host.rename': async ({ id, label }) => {
        await host.rename(id, label);
        if (this.#labels.has(id)) name(id, label);
        return {};
      },
    };
  }

  /** Resolves after the first list. */
  async #follow(): Promise<void> {
    const { promise: listed, resolve, reject } = Promise.withResolvers<void>();
    const { host } = this.#options;
    void followHost(host, {
      signal: this.#closing.signal,
      synced: async (found) => {
        const running = found.filter(({ state }) => state === 'running');
        for (const { id, label = id } of running) {
          if (this.#labels.has(id)) continue;
          await host.adopt(id);
          this.#labels.set(id, label);
        }
        const ids = new Set(running.map(({ id }) => id));
        for (const id of this.running) if (!ids.has(id)) this.#look(id);
        resolve();
      },
      changed: ({ id }) => this.#look(id),
      away: reject,
      back: () => {},
    });
    try {
      await listed;
    } catch (error) {
      this.#closing.abort(error);
      throw error;
    }
  }

  /** Reports a container that does not run any more. The server removes it. */
  #look(id: string): void {
    const look = async () => {
      const { state, why } = await this.#options.host.look(id);
      const label = this.#labels.get(id);
      if (state === 'running' || label === undefined) return;
      this.#labels.delete(id);
      this.#options.ended(label, why ?? 'The container ended.');
    };
    look().catch(ignoreError('a host that is away is asked again'));
  }
}

const ending = (): AppError => new AppError('unavailable', 'belay join was ended on its machine.');

async function done(work: Promise<void>): Promise<Record<string, never>> {
  await work;
  return {};
}
