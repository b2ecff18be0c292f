import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { hosts } from '@belay/containers';
import { ConnectionFolder, makePrivateFolder, runtimeFolder } from '@belay/host';
import { relayAgent, type Relay } from '@belay/rpc';

export interface AgentSocketsOptions {
  /** The server that the agents’ connections are relayed to. */
  url: URL;
  /** The folder’s name among the sockets of this user. */
  name: string;
}

/** The sockets of agents in containers, each in a folder that is mounted only into that container. */
export class AgentSockets {
  readonly #url: URL;
  readonly #runtime = runtimeFolder(process.env.XDG_RUNTIME_DIR);
  readonly #root: string;
  readonly #open = new Map<string, { server: Server; relay: Relay }>();

  constructor({ url, name }: AgentSocketsOptions) {
    this.#url = url;
    this.#root = join(this.#runtime, name);
  }

  /** Listens for a sandbox’s agent, also for a container that already has the folder; returns the folder. */
  async open(sandbox: string, token: string): Promise<string> {
    await makePrivateFolder(this.#runtime);
    await makePrivateFolder(this.#root);
    const folder = new ConnectionFolder(this.#root, sandbox);
    await folder.make();
    const server = createServer();
    const relay = relayAgent({ server, url: this.#url, token });
    // The container’s user has no account here; access is limited by the folder.
    await folder.listen('agent.sock', server);
    await folder.place(hosts.file, 0o644, (path) =>
      writeFile(path, hosts.content(), { flag: 'wx' }),
    );
    this.#open.set(sandbox, { server, relay });
    return folder.path;
  }

  /** Ends its connection and removes the folder. */
  async close(sandbox: string): Promise<void> {
    const open = this.#open.get(sandbox);
    this.#open.delete(sandbox);
    open?.relay.close();
    open?.server.closeAllConnections();
    open?.server.close();
    await new ConnectionFolder(this.#root, sandbox).remove();
  }
}
