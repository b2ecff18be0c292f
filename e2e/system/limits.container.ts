import { isEvent, type Event } from '@belay/protocol';
import { describeSystem, killAgent, run, script, start } from '@belay/testkit';

const limit = (event: Event) => isEvent(event, 'limit');

// limits.long.container.ts has a budget of time, the queue, and an agent that waits by looking often.
describeSystem(
  'limits:',
  (server) => {
    describe('a budget', () => {
      const turns = Array.from({ length: 10 }, (_, index) => ({
        calls: [run(`echo turn ${index}`)],
      }));

      it('of steps ends the session before the next call of the model; a raised one resumes it', async () => {
        const model = script(server.data, [...turns.slice(0, 4), { finish: 'done' }]);
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

      it('of tokens ends the session', async () => {
        const model = script(server.data, turns);
        const session = await start(server, { task: 'Count', model, budgets: { tokens: 1_000 } });
        expect((await session.ended()).args).toMatchObject({ state: 'limited' });
        const reached = session.events.find(limit)?.args;
        expect(reached?.budget).toBe('tokens');
        expect(reached?.used).toBeGreaterThanOrEqual(1_000);
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
        await killAgent(session.id);
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
  },
  { BELAY_MEMORY_MB: '256' },
);
