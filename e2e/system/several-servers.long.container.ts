import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { script, SharedServers, start, type BelayServer, type Followed } from '@belay/testkit';
import { counting, endCounting, expectCountedOnce } from './counting.js';
import { JoinProcess } from './join-process.js';
import { invite } from './joined-machine.js';

const serves = (server: BelayServer, session: Followed): Promise<unknown> =>
  until('a server serves', async () => {
    const found = await server.client.sessions.get(session.id).catch(() => undefined);
    return found?.state === 'running';
  });

async function expectOnce(through: BelayServer, session: Followed): Promise<void> {
  await endCounting(through, session);
  await expectCountedOnce(session);
}

// shared-sessions.container.ts kills one of two servers.
describe('a session on one of the servers of a database', () => {
  let servers: SharedServers;
  beforeEach(async () => {
    servers = new SharedServers();
    await servers.start(2);
  });
  afterEach(() => servers.dispose());

  async function count(through: BelayServer, machine?: string): Promise<Followed> {
    const model = script(servers.first.data, [{ calls: [counting] }, { finish: 'done' }]);
    const session = await start(through, { task: 'Count', model, ...(machine && { machine }) });
    await session.printed('line 2');
    return session;
  }

  it('goes on when that server is stopped, which stands by once it is continued', async () => {
    const { first, second } = servers;
    const session = await count(second);
    process.kill(first.pid, 'SIGSTOP');
    await expectOnce(second, session);
    process.kill(first.pid, 'SIGCONT');
    await until('it begins anew', () => first.log.includes('begins anew'));
    await until('it passes on', () => first.client.sessions.get(session.id).catch(() => false));
  });

  it('is not taken up again by a server that was told to end while it was stopped', async () => {
    const { first, second } = servers;
    process.kill(first.pid, 'SIGSTOP');
    await until('another one serves', () => second.log.includes('takes its turn'));
    await first.end();
    expect(first.log).not.toContain('begins anew');
  });

  it('goes on after a kill of two servers of three, one after the other', async () => {
    const { first, second } = servers;
    const third = await servers.add();
    const session = await count(third);
    await first.end('SIGKILL');
    await serves(third, session);
    await second.end('SIGKILL');
    await serves(third, session);
    await expectOnce(third, session);
  });

  it('goes on while each server is replaced', async () => {
    const { first, second } = servers;
    const session = await count(first);
    await first.end();
    await first.start();
    session.follow();
    await serves(first, session);
    await second.end();
    await second.start();
    await serves(second, session);
    await expectOnce(second, session);
  });

  it('goes on when its machine had joined through another server', async () => {
    const { first, second } = servers;
    const home = mkdtempSync(join(tmpdir(), 'belay-machine-'));
    const { token } = await invite(first, 'laptop');
    const machine = new JoinProcess(home).start(second.url, '--token', token);
    await machine.says('Connected as laptop');
    const session = await count(second, 'laptop');
    await first.end('SIGKILL');
    await serves(second, session);
    await expectOnce(second, session);
    await machine.end('SIGTERM');
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  });
});
