import { RemoteTasks } from '@belay/containers';
import type { BelayClient } from '@belay/client';
import { AppError, errorFrom, taskCalls } from '@belay/protocol';
import { dialRpc } from '@belay/rpc';
import { thisServer, type OpenPlaces, type TrialPlace } from '@belay/evaluation';

export interface EvalPlacesOptions {
  /** Throws when no server is running. */
  connect(): { client: BelayClient; url: string };
  /** Receives a sentence for the user. */
  onNotice(sentence: string): void;
}

/** The joined machines of a server, and its own cluster, as places of trials, until `close`. */
export class EvalPlaces {
  readonly #options: EvalPlacesOptions;
  readonly #open: RemoteTasks[] = [];

  constructor(options: EvalPlacesOptions) {
    this.#options = options;
  }

  /** Without names, a run does not need any machine; one that is named must be there. */
  readonly open: OpenPlaces = async (names) => {
    if (names) {
      const { client, url } = this.#options.connect();
      return Promise.all(names.map((name) => this.#place(name, client, url)));
    }
    return (await this.#all()).filter((place) => place !== undefined);
  };

  async close(): Promise<void> {
    await Promise.all(this.#open.map((one) => one.close()));
  }

  async #all(): Promise<(TrialPlace | undefined)[]> {
    const { connect, onNotice } = this.#options;
    try {
      const { client, url } = connect();
      const [machines, own] = await Promise.all([client.machines.list(), client.machines.own()]);
      const able = machines.filter(
        ({ kind, connected, draining }) => kind === 'container' && connected && !draining,
      );
      const names = [...(own.tasks ? [thisServer] : []), ...able.map(({ name }) => name)];
      return await Promise.all(
        names.map((name) =>
          this.#place(name, client, url).catch((error: unknown) => {
            // Only an admin may use them for trials.
            const { code, message } = errorFrom(error);
            if (code !== 'forbidden') onNotice(`${name} runs no trials: ${message}`);
            return undefined;
          }),
        ),
      );
    } catch (error) {
      // Without a server, there are no machines.
      if (error instanceof AppError) return [];
      throw error;
    }
  }

  async #place(name: string, client: BelayClient, url: string): Promise<TrialPlace> {
    const isOwn = name === thisServer;
    const { token } = await (isOwn
      ? client.machines.openOwnTasks()
      : client.machines.openTasks(name));
    const connection = dialRpc({
      address: url.replace(/^http/, 'ws'),
      token,
      serves: {},
      calls: taskCalls,
    });
    const host = new RemoteTasks({
      name: isOwn ? 'The server' : `The machine ${name}`,
      connection,
    });
    this.#open.push(host);
    return { name, host, away: host.away };
  }
}
