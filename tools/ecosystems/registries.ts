import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { tar } from '../prepare/tar.mjs';
import { zip } from './zip.ts';

/** The word in each package; a program that prints it has the package. */
export const word = 'through-the-connection';

export interface Registries {
  url: string;
  /** The requested paths. */
  requested: string[];
  close(): Promise<void>;
}

/** The files of a registry, by path. */
type Served = [path: string, body: string | Buffer][];

/**
 * Registries with one package each for pip (PEP 503), cargo (sparse index) and go (GOPROXY), over
 * HTTPS.
 */
export async function startRegistries({
  host,
  key,
  cert,
}: {
  host: string;
  key: Buffer;
  cert: Buffer;
}): Promise<Registries> {
  const requested: string[] = [];
  let files = new Map<string, string | Buffer>();
  const server = createServer({ key, cert }, (request, response) => {
    const { url: path = '' } = request;
    requested.push(path);
    const body = files.get(path);
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': typeOf(path) });
    response.end(body);
  });
  server.listen(0, host);
  await once(server, 'listening');
  const url = `https://${host}:${(server.address() as AddressInfo).port}`;
  files = new Map([...pip(), ...(await cargo(url)), ...go()]);
  const close = () => new Promise<void>((done) => server.close(() => done()));
  return { url, requested, close };
}

const typeOf = (path: string) => (path.endsWith('/') ? 'text/html' : 'application/octet-stream');

function pip(): Served {
  const wheel = 'belay_demo-1.0.0-py3-none-any.whl';
  const info = 'belay_demo-1.0.0.dist-info';
  const content = zip([
    { path: 'belay_demo.py', content: `word = '${word}'\n` },
    {
      path: `${info}/METADATA`,
      content: 'Metadata-Version: 2.1\nName: belay-demo\nVersion: 1.0.0\n',
    },
    {
      path: `${info}/WHEEL`,
      content: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    },
    {
      path: `${info}/RECORD`,
      content: `belay_demo.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/RECORD,,\n`,
    },
  ]);
  return [
    ['/pip/simple/belay-demo/', `<a href="/pip/${wheel}#sha256=${sha256(content)}">${wheel}</a>`],
    [`/pip/${wheel}`, content],
  ];
}

async function cargo(url: string): Promise<Served> {
  const entries = [
    {
      path: 'belay-demo-1.0.0/Cargo.toml',
      content: '[package]\nname = "belay-demo"\nversion = "1.0.0"\nedition = "2021"\n',
    },
    {
      path: 'belay-demo-1.0.0/src/lib.rs',
      content: `pub fn word() -> &'static str { "${word}" }\n`,
    },
  ];
  const crate = gzipSync(await buffer(Readable.from(tar(entries))));
  const line = { name: 'belay-demo', vers: '1.0.0', deps: [], features: {}, yanked: false };
  return [
    ['/cargo/index/config.json', JSON.stringify({ dl: `${url}/cargo/crates` })],
    ['/cargo/index/be/la/belay-demo', `${JSON.stringify({ ...line, cksum: sha256(crate) })}\n`],
    ['/cargo/crates/belay-demo/1.0.0/download', crate],
  ];
}

function go(): Served {
  const at = '/go/example.org/demo/@v/';
  const mod = 'module example.org/demo\n\ngo 1.19\n';
  const inside = 'example.org/demo@v1.0.0';
  const content = zip([
    { path: `${inside}/go.mod`, content: mod },
    { path: `${inside}/demo.go`, content: `package demo\n\nconst Word = "${word}"\n` },
  ]);
  return [
    [`${at}list`, 'v1.0.0\n'],
    [`${at}v1.0.0.info`, JSON.stringify({ Version: 'v1.0.0', Time: '2024-01-01T00:00:00Z' })],
    [`${at}v1.0.0.mod`, mod],
    [`${at}v1.0.0.zip`, content],
  ];
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
