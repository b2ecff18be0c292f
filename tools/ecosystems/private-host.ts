import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { runProgram } from '../prepare/run-program.mjs';

/**
 * An address of this machine other than loopback, because clients do not use a proxy for loopback.
 */
export function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flat();
  const found = all.find((each) => each && !each.internal && each.family === 'IPv4');
  if (!found) throw new Error('This machine has no address but loopback.');
  return found.address;
}

/**
 * Creates a private CA and a certificate for the address; returns the server’s key and certificate.
 */
export async function privateCertificate(
  root: string,
  address: string,
): Promise<{ key: Buffer; cert: Buffer }> {
  const folder = join(root, 'keys');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'names'), `subjectAltName=IP:${address}\n`);
  const openssl = (line: string) => runProgram('openssl', line.split(' '), { cwd: folder });
  const fresh = '-nodes -newkey rsa:2048';
  await openssl(`req -x509 -days 2 ${fresh} -subj /CN=private-ca -keyout ca.key -out ca.crt`);
  await openssl(`req ${fresh} -subj /CN=registry -keyout server.key -out server.csr`);
  const signer = '-CA ca.crt -CAkey ca.key -CAcreateserial -extfile names';
  await openssl(`x509 -req -days 2 -in server.csr ${signer} -out server.crt`);
  const read = (name: string) => readFileSync(join(folder, name));
  place(root, 'usr/local/share/ca-certificates/private.crt', read('ca.crt'));
  return { key: read('server.key'), cert: read('server.crt') };
}

/** Writes the settings of a host with private registries; the home folder is `home`. */
export function setUp(root: string, url: string): void {
  place(root, 'etc/pip.conf', `[global]\nindex-url = ${url}/pip/simple/\n`);
  place(root, 'home/.config/pip/pip.conf', `[global]\nindex-url = ${url}/pip/simple/\n`);
  place(root, 'home/.cargo/config.toml', cargoConfig(url));
  place(root, 'home/.config/go/env', goEnvironment(url));
}

const cargoConfig = (url: string) =>
  `[source.crates-io]\nreplace-with = "private"\n\n[source.private]\nregistry = "sparse+${url}/cargo/index/"\n`;

const goEnvironment = (url: string) => `GOPROXY=${url}/go\nGONOSUMDB=example.org/*\n`;

function place(root: string, path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}
