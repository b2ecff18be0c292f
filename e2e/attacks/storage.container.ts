import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describeSystem, idle, run, script, start } from '@belay/testkit';
import { until } from '@belay/testing';

const mebibyte = 2 ** 20;

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

    it('47: a session with a full log waits with a reason and can be stopped, and others work', async () => {
      const write = (step: number) => ({
        operation: 'files.write',
        input: { path: `${step}.txt`, content: 'x'.repeat(200_000) },
      });
      const turns = Array.from({ length: 20 }, (_, step) => ({ calls: [write(step)] }));
      const model = script(server.data, turns);
      const session = await start(server, { task: 'Write', model, approvals: 'auto' });
      // The log is full, so only the summary can show the state, not an event.
      const summary = () => server.client.sessions.get(session.id);
      const isWaiting = async () => (await summary()).state === 'waiting';
      await until('the state', isWaiting, { timeoutMs: 120_000 });
      expect((await summary()).reason).toContain('The log of the session has reached its limit');
      const other = script(server.data, [{ calls: [run('echo honest')] }, { finish: 'done' }]);
      const honest = await start(server, { task: 'Work', model: other, approvals: 'auto' });
      await honest.finished();
      await honest.printed('honest');
      await server.client.sessions.stop(session.id);
      await until('the stop', async () => (await summary()).state === 'stopped');
      session.close();
      honest.close();
    });
  },
  { BELAY_SESSION_MB: '2', BELAY_SESSION_LOG_MB: '1' },
);
