import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';

/**
 * A simulated internet behind the host’s proxy. For any name, port 443 is an HTTPS server with a
 * certificate of a private authority; every other port is the same without TLS. Serves `files`.
 */
export class OutsideWorld {
  readonly files = mkdtempSync(join(tmpdir(), 'belay-outside-'));
  /** Every `host:port` that was requested. */
  readonly asked: string[] = [];
  readonly #secrets = mkdtempSync(join(tmpdir(), 'belay-authority-'));
  readonly #servers: Server[] = [];
  #proxy = '';

  async open(names: readonly string[]): Promise<void> {
    const { key, cert } = this.#certificate(names);
    const answer = (url = '/') => this.#file(url);
    const plain = createHttp((request, response) => reply(response, answer(request.url)));
    const secure = createHttps({ key, cert }, (request, response) =>
      reply(response, answer(request.url)),
    );
    const ports = [await this.#listen(plain), await this.#listen(secure)] as const;
    const proxy = createHttp();
    proxy.on('connect', (request, socket, head) => {
      this.asked.push(request.url ?? '');
      const out = connect(request.url?.endsWith(':443') ? ports[1] : ports[0], '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        if (head.length > 0) out.write(head);
        out.pipe(socket).pipe(out);
      });
      out.on('error', () => socket.destroy());
      socket.on('error', () => out.destroy());
    });
    this.#proxy = `http://127.0.0.1:${await this.#listen(proxy)}`;
  }

  /** The environment of a server whose host is behind this proxy. */
  get environment(): Record<string, string> {
    const names = { HTTPS_PROXY: this.#proxy, HTTP_PROXY: this.#proxy, NO_PROXY: '' };
    const lower = Object.entries(names).map(([name, value]) => [name.toLowerCase(), value]);
    return { ...names, ...Object.fromEntries(lower) };
  }

  /** Adds a page. */
  serve(path: string, content: string): void {
    writeFileSync(join(this.files, path), content);
  }

  /** The authority’s certificate, as PEM. */
  get authority(): string {
    return readFileSync(join(this.#secrets, 'cert.pem'), 'utf8');
  }

  async close(): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
    for (const folder of [this.files, this.#secrets])
      rmSync(folder, { recursive: true, force: true });
  }

  #certificate(names: readonly string[]): { key: Buffer; cert: Buffer } {
    const [key, cert] = [join(this.#secrets, 'key.pem'), join(this.#secrets, 'cert.pem')];
    const alternatives = names.map((name) => `DNS:${name}`).join(',');
    const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2';
    const subject = [
      '-subj',
      '/CN=Belay test authority',
      '-addext',
      `subjectAltName=${alternatives}`,
    ];
    const options = [...request.split(' '), ...subject, '-keyout', key, '-out', cert];
    execFileSync('openssl', options, { stdio: 'pipe' });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  }

  #file(url: string): Buffer | undefined {
    const file = join(this.files, normalize(decodeURIComponent(url.split('?')[0] ?? '/')));
    return statSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file) : undefined;
  }

  async #listen(server: Server): Promise<number> {
    this.#servers.push(server);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return (server.address() as AddressInfo).port;
  }
}

function reply(
  response: { writeHead(status: number): { end(body?: Buffer): void } },
  body: Buffer | undefined,
): void {
  response.writeHead(body ? 200 : 404).end(body);
}
