import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { chosen, script, SharedServers, start } from '@belay/testkit';
import { counting, endCounting, expectCountedOnce } from '../system/counting.js';
import { JoinProcess } from '../system/join-process.js';
import { invite } from '../system/joined-machine.js';

describe('servers with one bucket, and a data folder each', () => {
  it('go on with the events and the terminal of the one that was killed', async () => {
    const home = mkdtempSync(join(tmpdir(), 'belay-machine-'));
    const servers = new SharedServers({
      BELAY_STORAGE: `${chosen('BELAY_STORAGE')}/${randomUUID()}`,
      BELAY_SECRET_KEY: randomBytes(32).toString('base64'),
    });
    try {
      await servers.start(2);
      const { first, second } = servers;
      expect(first.data).not.toBe(second.data);
      const { token } = await invite(first, 'laptop');
      const machine = new JoinProcess(home).start(second.url, '--token', token);
      await machine.says('Connected as laptop');
      const model = script(home, [{ calls: [counting] }, { finish: 'done' }]);
      const session = await start(second, { task: 'Count', model, machine: 'laptop' });
      await session.printed('line 5');
      await first.end('SIGKILL');
      await until('the other one serves', () =>
        second.client.sessions.get(session.id).catch(() => undefined),
      );
      await endCounting(second, session);
      await expectCountedOnce(session);
      await second.client.sessions.remove(session.id);
      await machine.end('SIGTERM');
    } finally {
      await servers.dispose();
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    }
  });
});
