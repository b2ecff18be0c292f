import { chmod, lstat, mkdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { agentCalls, AppError, serverCalls } from '@belay/protocol';
import { ropeServer, type RopeServer } from '@belay/rope';
import { Config } from '../config.js';
import type { AgentRope } from './agent-link.js';

interface Listening {
  server: Server;
  ropes: RopeServer;
}

/** A Unix socket for each sandbox, alone in a folder that is mounted into that one container: the socket is the identity. */
@Injectable()
export class RopeListener {
  private readonly root: string;
  private readonly listening = new Map<string, Listening>();
  private readonly rootFolder: string;

  constructor(config: Config) {
    this.rootFolder = config.runtimeFolder;
    this.root = join(config.runtimeFolder, config.instance);
  }

  folder(sandbox: string): string {
    return join(this.root, sandbox);
  }

  /** Listens at the sandbox's own path, which outlives the server: after a restart agents find it again. */
  async open(sandbox: string, onRope: (rope: AgentRope) => void): Promise<void> {
    await this.makeRoot();
    const folder = this.folder(sandbox);
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755);
    const path = join(folder, 'rope.sock');
    await rm(path, { force: true });
    const server = createServer();
    // One agent has one socket; should another process of the sandbox dial too, it is a rope of its own.
    const ropes = await ropeServer({ server, serves: serverCalls, calls: agentCalls, onRope });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
    // The container's user is nobody here; only its folder lets it in.
    await chmod(path, 0o666);
    this.listening.set(sandbox, { server, ropes });
  }

  /** Stops listening and removes the folder; pending calls fail with `reason`. */
  async remove(sandbox: string, reason: AppError): Promise<void> {
    await this.hangUp(sandbox, reason);
    await rm(this.folder(sandbox), { recursive: true, force: true });
  }

  /** Stops listening for all; the agents keep dialling. */
  async hangUpAll(): Promise<void> {
    await Promise.all([...this.listening.keys()].map((sandbox) => this.hangUp(sandbox)));
  }

  private async hangUp(sandbox: string, reason?: AppError): Promise<void> {
    const listening = this.listening.get(sandbox);
    if (!listening) return;
    this.listening.delete(sandbox);
    listening.ropes.close(reason);
    listening.server.closeAllConnections();
    await new Promise((resolve) => listening.server.close(resolve));
  }

  /** In a temporary folder somebody else could have made it first. */
  private async makeRoot(): Promise<void> {
    await mkdir(this.root, { recursive: true, mode: 0o700 });
    const { uid } = await lstat(this.rootFolder);
    if (process.getuid && uid !== process.getuid()) {
      throw new AppError(
        'unavailable',
        `The folder ${this.rootFolder} belongs to another user: remove it, or set XDG_RUNTIME_DIR.`,
      );
    }
    await chmod(this.rootFolder, 0o700);
  }
}
