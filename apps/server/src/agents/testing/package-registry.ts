import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack, type Headers } from 'tar-stream';
import type { AgentEntry } from '../agent-entry.js';
import type { AgentLock, LockedPackage } from '../agent-lock.js';
import { agentTable } from '../agent-table.js';

/** A file of a package; `package/` is the folder that npm uses. */
export type PackageFile = Headers & { content?: string };

export const plainFile = (name: string, content = name, mode = 0o644): PackageFile => ({
  name: `package/${name}`,
  mode,
  content,
});

/** Which packages a package needs, as its `package.json` says. */
interface Needs {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** An npm registry on this machine, with packages made up by a test. */
export class PackageRegistry {
  readonly requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  /** Changes an archive on its way. */
  onSend: (archive: Buffer) => Buffer = (archive) => archive;
  /** Awaited before an archive is sent. */
  beforeSend: () => Promise<void> = () => Promise.resolve();
  readonly #archives = new Map<string, Buffer>();
  /** What the registry says about the versions of each package. */
  readonly #documents = new Map<string, Record<string, object>>();
  readonly #server: Server = createServer((request, response) => {
    const path = request.url ?? '';
    this.requests.push({ path, headers: request.headers });
    const archive = this.#archives.get(path);
    const send = async (): Promise<void> => {
      await this.beforeSend();
      const versions = this.#documents.get(decodeURIComponent(path.slice('/npm/'.length)));
      if (versions) response.end(JSON.stringify({ versions }));
      else if (archive && request.method === 'HEAD')
        response.setHeader('content-length', archive.length).end();
      else if (archive) response.end(this.onSend(Buffer.from(archive)));
      else response.writeHead(404).end();
    };
    void send();
  });

  async open(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  /** Below a path, as private registries have it. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/npm`;
  }

  /** Publishes a package; returns what a lock says about it. */
  async publish(
    name: string,
    files: readonly PackageFile[] | Buffer,
    { needs = {}, ...more }: Partial<LockedPackage> & { needs?: Needs } = {},
  ): Promise<LockedPackage> {
    const { version = '1.0.0' } = more;
    const archive = Buffer.isBuffer(files) ? files : gzipSync(await tarOf(files));
    this.#archives.set(`/npm/${name}/-/${name.split('/').at(-1)}-${version}.tgz`, archive);
    const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
    const others = this.#documents.get(name);
    this.#documents.set(name, { ...others, [version]: { ...needs, dist: { integrity } } });
    const path = `node_modules/${name}`;
    return { path, name, version, integrity, size: archive.length, ...more };
  }
}

export async function tarOf(files: readonly PackageFile[]): Promise<Buffer> {
  const archive = pack();
  const whole = buffer(archive);
  for (const { content = '', ...header } of files) archive.entry(header, content);
  archive.finalize();
  return whole;
}

/** In place of `InstallableAgents`: one agent with packages of a test. */
export function installableWith(entry: AgentEntry, lock: AgentLock) {
  const known = new Map([[entry.name, { entry, lock }]]);
  return { all: [...known.values()], known: (name: string) => known.get(name) };
}

/** An agent of the table with an open licence, for tests that install something else in its name. */
export function someEntry(more: Partial<AgentEntry> = {}): AgentEntry {
  const [entry] = [...agentTable.values()].filter(({ licence }) => licence.spdx !== null);
  if (!entry) throw new Error('The table is empty.');
  return { ...entry, name: 'fake', title: 'Fake', ...more };
}
