import { type Event, isEvent } from '@belay/protocol';
import { containerOf, describeSystem, killAgent, run, script, start } from '@belay/testkit';
import { pause } from '@belay/testing';
import { gaplessNumbers, eventNumbers } from './event-numbers.js';

const limit = (event: Event) => isEvent(event, 'limit');
const result = (event: Event) => isEvent(event, 'result');

// limits.long.container.ts has budgets of time and tokens, a killed container, the queue, and an agent that waits by looking often;
// breaks.long.container.ts has failures of the viewer’s connection.
describeSystem(
  'limits and failures:',
  (server) => {
    describe('a budget', () => {
      const turns = Array.from({ length: 4 }, (_, index) => ({
        calls: [run(`echo turn ${index}`)],
      }));

      it('of steps ends the session before the next call of the model; a raised one resumes it', async () => {
        const model = script(server.data, [...turns, { finish: 'done' }]);
        const session = await start(server, { task: 'Count', model, budgets: { steps: 3 } });
        const end = await session.ended();
        expect(end.args).toMatchObject({ state: 'limited' });
        expect(String(end.args.reason)).toMatch(/budget of 3 steps is spent/);
        expect(session.events.find(limit)?.args).toEqual({ budget: 'steps', limit: 3, used: 3 });
        await session.printed('turn 2');
        expect(session.terminal()).not.toContain('turn 3');
        await server.client.sessions.change(session.id, { budgets: { steps: 10 } });
        await server.client.sessions.restart(session.id);
        await session.printed('turn 3');
        await session.finished(end.seq);
        session.close();
      });
    });

    describe('an agent that repeats itself', () => {
      it('is warned, then the user is asked', async () => {
        const same = Array.from({ length: 12 }, () => ({ calls: [run('cat missing.txt')] }));
        const model = script(server.data, same);
        const session = await start(server, { task: 'Circle', model });
        const asked = await session.event((event) => event.action === 'ask');
        expect(JSON.stringify(asked.args)).toMatch(/round in circles/);
        await session.state('waiting');
        expect(await server.client.sessions.get(session.id)).toMatchObject({
          state: 'waiting',
          question: expect.stringMatching(/terminal\.run was called 4 times/),
        });
        session.close();
      });
    });

    describe('failures inside a sandbox', () => {
      it('a command that uses all memory is killed; the agent survives and is informed', async () => {
        const model = script(server.data, [
          { calls: [run('tail /dev/zero', { wait: 60 })] },
          { expect: '"exitCode":137', calls: [run('echo still here')] },
          { finish: 'done' },
        ]);
        const session = await start(server, { task: 'Eat', model });
        await session.finished();
        await session.printed('still here');
        session.close();
      });

      it('a killed agent is reported within 5 s; a restart continues after its last event', async () => {
        const model = script(server.data, [
          { calls: [run('echo kept > kept.txt')] },
          { calls: [run('echo about to; sleep 60')] },
          { calls: [run('cat kept.txt')] },
          { finish: 'done' },
        ]);
        const session = await start(server, { task: 'Fall', model });
        await session.until(() => session.terminal().includes('about to\r\n'), 'the fall');
        const ended = (await containerOf(session.id)).wait();
        await killAgent(session.id);
        await ended;
        const fell = Date.now();
        const failed = await session.state('failed');
        expect(Date.parse(failed.time) - fell).toBeLessThan(5_000);
        expect(String(failed.args.reason)).toMatch(/killed \(SIGKILL\).*files are kept/);
        await server.client.sessions.restart(session.id);
        await session.finished(failed.seq);
        await session.printed('kept\r\n');
        expect(session.events.map((event) => event.seq)).toEqual(
          session.events.map((_, index) => index + 1),
        );
        session.close();
      });
    });

    describe('a failure', () => {
      it('of the server by kill -9 leaves the agent working, and nothing is lost or repeated', async () => {
        const model = script(server.data, [
          { calls: [run('for i in $(seq 1 20); do echo step $i; sleep 0.2; done')] },
          { calls: [run('echo after')] },
          { finish: 'done' },
        ]);
        const session = await start(server, { task: 'Go on', model });
        await session.until(() => session.terminal().includes('step 4'), 'step 4');
        await server.end('SIGKILL');
        await pause(1_000, 'the agent works while no server is there');
        await server.start();
        session.follow();
        await session.finished();
        await session.until(() => session.terminal().includes('after'), 'the last output');
        expect(eventNumbers(session)).toEqual(gaplessNumbers(session));
        const steps = session.terminal().match(/^step \d+/gm);
        expect(steps).toEqual(Array.from({ length: 20 }, (_, index) => `step ${index + 1}`));
        expect(session.events.filter(result)).toHaveLength(3);
        session.close();
      });
    });
  },
  { BELAY_MEMORY_MB: '256' },
);
