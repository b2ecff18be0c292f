import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { hosts } from '@belay/docker';
import { ConnectionFolder, makePrivateFolder, runtimeFolder } from '@belay/host';
import { relayAgent, type Relay } from '@belay/rpc';

export interface AgentSocketsOptions {
  /** The server to which the agents’ connections are carried. */
  url: URL;
  /** Of the folder, among those of this user’s sockets. */
  name: string;
}

/** The sockets of agents in containers, each alone in a folder that is mounted into that one container. */
export class AgentSockets {
  readonly #url: URL;
  readonly #runtime = runtimeFolder(process.env.XDG_RUNTIME_DIR);
  readonly #root: string;
  readonly #open = new Map<string, { server: Server; relay: Relay }>();

  constructor({ url, name }: AgentSocketsOptions) {
    this.#url = url;
    this.#root = join(this.#runtime, name);
  }

  /** Listens for the agent of a sandbox, also of a container that has the folder already; returns the folder. */
  async open(sandbox: string, token: string): Promise<string> {
    await makePrivateFolder(this.#runtime);
    await makePrivateFolder(this.#root);
    const folder = new ConnectionFolder(this.#root, sandbox);
    await folder.make();
    const server = createServer();
    const relay = relayAgent({ server, url: this.#url, token });
    // The container’s user has no account here; access is limited by the folder.
    await folder.listen('agent.sock', server);
    await folder.place(hosts.file, 0o644, (path) => writeFile(path, hosts.content, { flag: 'wx' }));
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
