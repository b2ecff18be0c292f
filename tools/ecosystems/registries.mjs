import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { tar } from '../prepare/tar.mjs';
import { zip } from './zip.mjs';

/** The word that each package says, so that a program proves that it has it. */
export const word = 'through-the-rope';

/**
 * A registry of one package for each of pip (PEP 503), cargo (sparse index) and go (GOPROXY), over HTTPS.
 * Answers its address, the paths that were asked for, and `close`.
 */
export async function startRegistries({ host, key, cert }) {
  const asked = [];
  let files = new Map();
  const server = createServer({ key, cert }, (request, response) => {
    asked.push(request.url);
    const body = files.get(request.url);
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': typeOf(request.url) });
    response.end(body);
  });
  server.listen(0, host);
  await once(server, 'listening');
  const url = `https://${host}:${server.address().port}`;
  files = new Map([...pip(), ...(await cargo(url)), ...go()]);
  return { url, asked, close: () => new Promise((done) => server.close(done)) };
}

const typeOf = (path) => (path.endsWith('/') ? 'text/html' : 'application/octet-stream');

function pip() {
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

async function cargo(url) {
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

function go() {
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

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
