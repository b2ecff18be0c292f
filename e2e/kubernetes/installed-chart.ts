import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createClient, LiveConnection, type BelayClient } from '@belay/client';
import { freePort } from '@belay/testing';
import { clusterCommand, prepared, repositoryRoot, type Turn } from '@belay/testkit';
import { loadYaml } from '@kubernetes/client-node';

interface Values {
  server: Record<string, unknown>;
  sandboxes: Record<string, unknown>;
}

interface Connected {
  client: BelayClient;
  live: LiveConnection;
  forward: ChildProcess;
}

/** A reader of docs/kubernetes.md in a folder like a clone, with namespaces of their own in the place of the page’s. */
export class InstalledChart {
  readonly namespace = `belay-test-${randomBytes(4).toString('hex')}`;
  readonly sandboxes = `${this.namespace}-sandboxes`;
  /** For `Followed`; the server’s own log is that of its pod. */
  readonly log = '';
  readonly #folder = mkdtempSync(join(tmpdir(), 'chart-'));
  #connected: Connected | undefined;

  constructor() {
    symlinkSync(join(repositoryRoot, 'docker'), join(this.#folder, 'docker'));
  }

  get client(): BelayClient {
    return this.#now.client;
  }

  get live(): LiveConnection {
    return this.#now.live;
  }

  /** Saves the page’s values with the images of this machine and small sandboxes. */
  save(page: string, more: Record<string, unknown> = {}): void {
    const { server, sandboxes } = loadYaml(page) as Values;
    const [repository, tag] = prepared('BELAY_TEST_SERVER_IMAGE').split(':');
    const values = {
      server: { ...server, image: { repository, tag }, env: { BELAY_POOL: 0 }, ...more },
      sandboxes: {
        ...sandboxes,
        image: prepared('BELAY_TEST_IMAGE'),
        runtimeImage: prepared('BELAY_RUNTIME_IMAGE'),
        namespace: { name: this.sandboxes },
        filesMb: 64,
      },
    };
    writeFileSync(join(this.#folder, 'values.yaml'), JSON.stringify(values));
  }

  /** Runs commands of the page; returns their output. */
  shell(commands: string, environment = ''): Promise<string> {
    return clusterCommand('bash', ['-euo', 'pipefail', '-c', environment + this.own(commands)], {
      cwd: this.#folder,
    });
  }

  /** A text of the page with the names of this reader’s namespaces. */
  own(text: string): string {
    return text
      .replaceAll('belay-sandboxes', this.sandboxes)
      .replaceAll(/namespace belay(?![\w-])/g, `namespace ${this.namespace}`);
  }

  kubectl(args: string, input = ''): Promise<string> {
    return clusterCommand('kubectl', args.split(' '), { input });
  }

  /** Runs a program in the server’s pod. */
  inServer(command: string, input = ''): Promise<string> {
    const pod = `--namespace ${this.namespace} exec --stdin deployment/belay`;
    return this.kubectl(`${pod} -- ${command}`, input);
  }

  /** Puts a script for the scripted model beside the server’s data; returns the model’s name. */
  async script(turns: Turn[]): Promise<string> {
    const file = `/var/lib/belay/${randomBytes(4).toString('hex')}.yaml`;
    await this.inServer(`tee ${file}`, JSON.stringify({ turns }));
    return `scripted:${file}`;
  }

  /** To the server that runs now, by the page’s command for it. */
  async connect(command: string): Promise<void> {
    this.#disconnect();
    const port = await freePort();
    const line = this.own(command).replace('4600:4600', `${port}:4600`);
    const forward = spawn('bash', ['-c', `exec ${line}`], {
      env: { ...process.env, KUBECONFIG: prepared('BELAY_TEST_CLUSTER') },
      // It complains when the pod goes that it leads to.
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const lines = createInterface(forward.stdout);
    await Promise.race([once(lines, 'line'), once(forward, 'exit')]);
    const saved = await this.inServer('cat /var/lib/belay/data/server.json');
    const { token } = JSON.parse(saved) as { token: string };
    const address = { url: `http://127.0.0.1:${port}`, token };
    this.#connected = {
      client: createClient(address),
      live: new LiveConnection(address),
      forward,
    };
  }

  /** Removes the namespaces with all that is in them. */
  async remove(): Promise<void> {
    this.#disconnect();
    const names = `${this.namespace} ${this.sandboxes}`;
    await this.kubectl(`delete namespace --ignore-not-found --wait=false ${names}`);
    rmSync(this.#folder, { recursive: true });
  }

  #disconnect(): void {
    this.#connected?.live.close();
    this.#connected?.forward.kill();
    this.#connected = undefined;
  }

  get #now(): Connected {
    if (!this.#connected) throw new Error('There is no connection to the server.');
    return this.#connected;
  }
}
