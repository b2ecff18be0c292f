import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gitIn } from './hostile-repository.js';

/** How much longer than announced idle connections are kept. */
const keepMs = 60_000;

const bareSettings = `[core]
	repositoryFormatVersion = 0
	fileMode = true
	bare = true
[http]
	receivePack = true
`;

/**
 * A real git server on loopback: `git http-backend` behind Basic authentication. Repositories below
 * `private/` require the token, and so do all pushes.
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
    const pushes =
      pathname.endsWith('/git-receive-pack') || searchParams.get('service') === 'git-receive-pack';
    const password = Buffer.from((request.headers.authorization ?? '').slice(6), 'base64')
      .toString()
      .split(':')[1];
    const needsToken = pushes || pathname.startsWith('/private/');
    // As on real servers, a wrong token is refused even where none is required.
    if ((needsToken || password !== undefined) && password !== this.token) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    this.#run(request, response, { pathname, search });
  }

  #run(
    request: IncomingMessage,
    response: ServerResponse,
    { pathname, search }: { pathname: string; search: string },
  ): void {
    const child = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: this.folder,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: decodeURIComponent(pathname),
        QUERY_STRING: search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        CONTENT_LENGTH: request.headers['content-length'] ?? '',
        REMOTE_USER: 'test',
        HOME: this.folder,
      },
    });
    request.pipe(child.stdin.on('error', () => undefined));
    let head: Buffer | undefined = Buffer.alloc(0);
    child.stdout.on('data', (chunk: Buffer) => {
      if (!head) return void response.write(chunk);
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const lines = head.toString('latin1', 0, end).split('\r\n');
      const headers = Object.fromEntries(lines.map((line) => line.split(': ', 2)));
      const { Status = '200', ...rest } = headers as Record<string, string>;
      response.writeHead(Number.parseInt(Status, 10), rest).write(head.subarray(end + 4));
      head = undefined;
    });
    child.on('close', () => response.end());
    response.on('close', () => child.kill());
  }
}
