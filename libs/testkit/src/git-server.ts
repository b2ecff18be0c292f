import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { gitIn } from './hostile-repository.js';

/** How much longer than announced idle connections are kept. */
const keepMs = 60_000;

const bareSettings = `[core]
	repositoryFormatVersion = 0
	fileMode = true
	bare = true
[receive]
	autoGC = false
[maintenance]
	auto = false
`;

const services = ['git-upload-pack', 'git-receive-pack'];

/**
 * A real git server on loopback: git’s own services behind Basic authentication, as large hosts run them over HTTP.
 * Repositories below `private/` require the token, and so do all pushes.
 */
export class GitServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'belay-git-server-'));
  readonly token = 'glpat-secret-0123456789';
  /** The requests so far: method and address. */
  readonly requests: string[] = [];
  /** Handles a request in place of git if it returns true. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  readonly #server: Server = createServer((request, response) => this.#answer(request, response));

  async start(): Promise<this> {
    // On a busy machine, a client finds a connection open that it has kept.
    this.#server.keepAliveTimeoutBuffer = keepMs;
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  url(path: string): string {
    return `http://${this.host}/${path}`;
  }

  /** Creates a bare repository that accepts pushes, with these further lines of settings; returns its folder. */
  bare(path: string, settings = ''): string {
    const folder = join(this.folder, path);
    // What `git init` makes, without a process: tests create many repositories.
    for (const name of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags'])
      mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(join(folder, 'config'), bareSettings + settings);
    return folder;
  }

  /** Creates a bare repository with the branches and tags of a folder’s repository. */
  publish(path: string, source: string): string {
    const folder = this.bare(path);
    gitIn(source, 'push', '-q', folder, 'refs/heads/*:refs/heads/*', 'refs/tags/*:refs/tags/*');
    return folder;
  }

  /** Creates a bare repository that is the same as another one; returns its folder. */
  copy(path: string, bare: string): string {
    const folder = join(this.folder, path);
    cpSync(bare, folder, { recursive: true });
    return folder;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    // A killed git process may still write for a moment.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, search, searchParams } = new URL(request.url ?? '/', 'http://x');
    this.requests.push(`${request.method} ${pathname}${search}`);
    if (this.intercept(request, response)) return;
    const [, path = '', asked] = /^(.*)\/(info\/refs|git-\w+-pack)$/.exec(pathname) ?? [];
    const isList = asked === 'info/refs';
    const service = (isList ? searchParams.get('service') : asked) ?? '';
    const pushes = service === 'git-receive-pack';
    const password = Buffer.from((request.headers.authorization ?? '').slice(6), 'base64')
      .toString()
      .split(':')[1];
    const needsToken = pushes || pathname.startsWith('/private/');
    // As on real servers, a wrong token is refused even where none is required.
    if ((needsToken || password !== undefined) && password !== this.token) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    const folder = join(this.folder, decodeURIComponent(path));
    const isThere = services.includes(service) && existsSync(join(folder, 'HEAD'));
    if (isThere) this.#run(request, response, { service, folder, isList });
    else response.writeHead(404).end();
  }

  #run(
    request: IncomingMessage,
    response: ServerResponse,
    { service, folder, isList }: { service: string; folder: string; isList: boolean },
  ): void {
    const kind = isList ? 'advertisement' : 'result';
    response.writeHead(200, {
      'content-type': `application/x-${service}-${kind}`,
      'cache-control': 'no-cache',
    });
    const announced = `# service=${service}\n`;
    const bytes = (announced.length + 4).toString(16).padStart(4, '0');
    if (isList) response.write(Buffer.from(`${bytes}${announced}0000`));
    const option = isList ? '--http-backend-info-refs' : '--stateless-rpc';
    const child = spawn('git', [service.slice(4), option, folder], {
      env: {
        PATH: process.env['PATH'],
        HOME: this.folder,
        GIT_COMMITTER_NAME: 'test',
        GIT_COMMITTER_EMAIL: 'test@localhost',
      },
    });
    const isPacked = request.headers['content-encoding'] === 'gzip';
    const sent = isPacked ? request.pipe(createGunzip()) : request;
    sent.pipe(child.stdin.on('error', () => undefined));
    child.stdout.on('data', (chunk: Buffer) => response.write(chunk));
    child.on('close', () => response.end());
    response.on('close', () => child.kill());
  }
}
