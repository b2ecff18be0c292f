import { describeSystem, run, script, start } from '@belay/testkit';
import { until } from '@belay/testing';

describeSystem(
  'attacks: the disk of the server',
  (server) => {
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
