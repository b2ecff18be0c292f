import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describeSystem, idle } from '@belay/testkit';
import { until } from '@belay/testing';

const mebibyte = 2 ** 20;

// storage.long.container.ts fills the log.
describeSystem(
  'attacks: the disk of the server',
  (server) => {
    it('13: output is stored up to a limit, and its program keeps running', async () => {
      const session = await idle(server, { approvals: 'auto' });
      const shell = async (command: string) =>
        (await server.client.sessions.call(session.id, 'terminal.run', { command, wait: 120 }))
          .text;
      expect(await shell('yes attack | head -c 20000000; echo printed it')).toContain('printed it');
      const file = join(server.data, 'terminals', session.id, 'main');
      await until('the notice of the limit', () =>
        readFileSync(file).includes('limit of 1 MiB: what follows is shown live'),
      );
      expect(statSync(file).blocks * 512).toBeLessThan(1.1 * mebibyte);
      expect(await shell('echo still here')).toContain('still here');
      session.close();
    });
  },
  { BELAY_SESSION_MB: '2', BELAY_SESSION_LOG_MB: '1' },
);
