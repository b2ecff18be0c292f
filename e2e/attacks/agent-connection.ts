import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { idle, type BelayServer, type Followed } from '@belay/testkit';

const script = readFileSync(join(__dirname, 'wire.py'), 'utf8');

/** Resident memory of the server, in MiB. */
export function serverMemory({ pid }: BelayServer): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

export async function expectAlive(server: BelayServer, session: Followed): Promise<void> {
  const command = { command: 'echo alive' };
  const result = await server.client.sessions.call(session.id, 'terminal.run', command);
  expect(result).toMatchObject({ text: 'alive\n', exitCode: 0 });
}

/** Programs of a sandbox attack the agent connection: they get no further than the upgrade request. */
export async function attackFromPrograms(
  server: BelayServer,
  sandbox: 'hardened' | 'root',
): Promise<void> {
  const [session, other] = [await idle(server, { sandbox }), await idle(server)];
  const { pid } = server;
  const before = serverMemory(server);
  const call = server.client.sessions.call.bind(server.client.sessions);
  await call(session.id, 'files.write', { path: 'wire.py', content: script });
  const command = { command: 'python3 wire.py', wait: 120 };
  const run = call(session.id, 'terminal.run', command);
  let [most, slowest] = [before, 0];
  const watch = setInterval(() => (most = Math.max(most, serverMemory(server))), 50);
  let isDone = false;
  void run.finally(() => (isDone = true));
  while (!isDone) {
    const begin = performance.now();
    await expectAlive(server, other);
    slowest = Math.max(slowest, performance.now() - begin);
  }
  clearInterval(watch);
  const { text } = await run;
  const lines = text.split('\n').filter(Boolean);
  const forbidden = 'HTTP/1.1 403 Forbidden';
  expect(lines.slice(0, 8)).toEqual([
    `26 hello ${forbidden}`,
    `12 blob ${forbidden}`,
    expect.stringMatching(/^01 long id (HTTP\/1.1 403 Forbidden|closed)$/),
    expect.stringMatching(/^08 deep (HTTP\/1.1 403 Forbidden|closed)$/),
    'no id HTTP/1.1 400 Bad Request',
    `page ${forbidden}`,
    'path HTTP/1.1 404 Not Found',
    '10 halves sent',
  ]);
  expect(Number(/^11 open (\d+)$/.exec(lines[8] ?? '')?.[1])).toBeLessThanOrEqual(8);
  expect(lines.slice(9)).toHaveLength(9);
  expect(lines.slice(9).filter((line) => line.endsWith('OPEN'))).toEqual([]);
  process.stdout.write(
    `Server: ${Math.round(before)} MiB before, ${Math.round(most)} at most; another session answered within ${Math.round(slowest)} ms.\n`,
  );
  expect(most - before).toBeLessThan(150);
  expect(server.pid).toBe(pid);
  await expectAlive(server, session);
  await expectAlive(server, other);
  session.close();
  other.close();
}
