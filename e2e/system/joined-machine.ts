import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { belay, describeSystem, docker, type BelayServer } from '@belay/testkit';
import { JoinProcess } from './join-process.js';

/** A machine `laptop` that joined a server. */
export interface JoinedMachine {
  readonly server: BelayServer;
  /** The home of the user who joined it. */
  readonly home: string;
  readonly machine: JoinProcess;
  /** The token with which it joined. */
  readonly token: string;
}

/** A group of tests with one server and one joined machine. */
export function describeJoinedMachine(title: string, tests: (joined: JoinedMachine) => void): void {
  describeSystem(
    title,
    (server) => {
      const home = mkdtempSync(join(tmpdir(), 'belay-machine-'));
      const machine = new JoinProcess(home);
      let token = '';
      beforeAll(async () => {
        ({ token } = await invite(server, 'laptop'));
        machine.start(server.url, '--token', token);
        await machine.says('Connected as laptop');
      });
      afterAll(async () => {
        await machine.end('SIGTERM');
        rmSync(home, { recursive: true, force: true, maxRetries: 10 });
      });
      tests({
        server,
        home,
        machine,
        get token() {
          return token;
        },
      });
    },
    { BELAY_MACHINE_LEASE_S: '8', BELAY_LOG_LEVEL: 'info' },
  );
}

/** The folder with what a machine has of the server that it joined. */
export const joinedFolderIn = (home: string): string => {
  const folder = join(home, 'belay/joined');
  return join(folder, readdirSync(folder)[0] ?? '');
};

/** Containers and volumes that the joined machine has created and not removed. */
export async function leftOf(home: string): Promise<{ containers: number; volumes: number }> {
  const filters = { label: [`belay.data=${joinedFolderIn(home)}`] };
  const containers = await docker.listContainers({ all: true, filters });
  const { Volumes } = await docker.listVolumes({ filters: JSON.stringify(filters) as never });
  return { containers: containers.length, volumes: (Volumes ?? []).length };
}

export async function invite(server: BelayServer, name: string): Promise<{ token: string }> {
  const { stdout } = await belay(server.data, ['machines', 'add', name, '--json']);
  return JSON.parse(stdout) as { token: string };
}

/** A proxy that terminates TLS with a self-signed certificate, at this machine’s `host`. */
export async function tlsInFrontOf(
  server: BelayServer,
  folder: string,
  host = 'localhost',
): Promise<{ url: string; cut(): void; close(): void }> {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const name = `${isIP(host) ? 'IP' : 'DNS'}:${host}`;
  const subject = ['-subj', '/CN=belay', '-addext', `subjectAltName=${name}`];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      ...subject,
      '-keyout',
      key,
      '-out',
      cert,
    ],
    { stdio: 'ignore' },
  );
  const open = new Set<TLSSocket>();
  const cut = () => open.forEach((socket) => void socket.destroy());
  const front: Server = createServer(
    { key: readFileSync(key), cert: readFileSync(cert) },
    (socket) => {
      open.add(socket.once('close', () => open.delete(socket)));
      const behind = connect(Number(new URL(server.url).port), '127.0.0.1');
      socket.on('error', () => {}).once('close', () => behind.destroy());
      socket.pipe(behind);
      behind.on('error', () => socket.destroy()).pipe(socket);
    },
  );
  front.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => front.listen(0, isIP(host) ? host : '127.0.0.1', resolve));
  const { port } = front.address() as { port: number };
  return {
    url: `https://${host}:${port}`,
    cut,
    close: () => {
      front.close();
      cut();
    },
  };
}
