import { spawn } from 'node:child_process';

/** The parts of the engine’s address that the reaper uses. */
export interface EngineAddress {
  socketPath?: string | undefined;
  host?: string | undefined;
  port?: number | string | undefined;
  protocol?: string | undefined;
}

/**
 * Starts a separate process that removes the run’s containers when this one has ended, even by
 * `kill -9`. The returned function stops it once nothing is left to remove. An engine behind TLS
 * gets no reaper: there, the next `resume` removes containers left by a kill.
 */
export function startReaper(label: string, address: EngineAddress): () => void {
  if (!address.socketPath && address.protocol === 'https') return () => undefined;
  const { socketPath, host, port } = address;
  const given = JSON.stringify({ label, where: socketPath ? { socketPath } : { host, port } });
  const child = spawn(process.execPath, ['-e', script, given], {
    // Gets its own process group, which terminal signals do not reach.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  });
  // Without the reaper, containers left by a kill stay until the next resume.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  return () => void child.stdin.end('over');
}

/** Input that ends without a message means that the parent has ended. */
const script = `
const http = require('node:http');
const { label, where } = JSON.parse(process.argv[1]);
const ask = (method, path) => new Promise((done) => {
  const request = http.request({ ...where, method, path, timeout: 20000 }, (response) => {
    let text = '';
    response.on('data', (part) => { text += part; });
    response.on('end', () => done(text));
  });
  request.on('error', () => done(''));
  request.on('timeout', () => request.destroy());
  request.end();
});
let over = false;
process.stdin.on('data', () => { over = true; });
process.stdin.on('error', () => undefined);
process.stdin.on('close', async () => {
  if (over) return;
  const filters = encodeURIComponent(JSON.stringify({ label: [label] }));
  const found = await ask('GET', '/containers/json?all=true&filters=' + filters);
  for (const { Id } of JSON.parse(found || '[]')) await ask('DELETE', '/containers/' + Id + '?force=true&v=true');
});
`;
