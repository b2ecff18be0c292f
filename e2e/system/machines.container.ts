import { hostname } from 'node:os';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { belay, run, script } from '@belay/testkit';
import { describeJoinedMachine } from './joined-machine.js';
import { filesBelow } from './join-process.js';

describeJoinedMachine('a joined machine', (joined) => {
  const { server, home, machine } = joined;

  it('is listed with its details and a note that nothing is confined, and no token is valid twice', async () => {
    expect(machine.output).toMatch(/Nothing is confined: agents of .* with all permissions of /);
    expect(await server.client.machines.list()).toMatchObject([
      { name: 'laptop', host: hostname(), kind: 'bare', connected: true, sessions: [] },
    ]);
    const description = { host: 'x', os: 'x', arch: 'x', kind: 'bare' as const };
    await expect(
      server.client.machines.join({ token: joined.token, description }),
    ).rejects.toMatchObject({
      code: 'unauthorized',
    });
  });

  it('runs a session assigned to it, whose files outlive its agent', async () => {
    const model = script(server.data, [
      { calls: [run('echo "here: $(hostname) $BELAY_TOKEN."; echo kept > kept.txt')] },
      { finish: 'done' },
      { calls: [run('cat kept.txt')] },
      { finish: 'again' },
    ]);
    const ran = await belay(server.data, [
      'run',
      'Where are you?',
      '-m',
      model,
      '--machine',
      'laptop',
      '--approve',
      'auto',
    ]);
    expect(ran).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`here: ${hostname()} .`),
      stderr: expect.stringContaining('Runs on the machine laptop itself: nothing is confined.'),
    });
    const [summary] = await server.client.sessions.list();
    const id = String(summary?.id);
    expect(summary?.machine).toEqual({ name: 'laptop', kind: 'bare' });
    await machine.says(`Session ${id} is running here now.`);
    await until('the log has it', () =>
      server.log.includes(`Session ${id} runs on the machine laptop.`),
    );
    const { parts } = await server.client.sessions.call(id, 'session.prompt', {});
    expect(JSON.stringify(parts)).toContain('NOT in a sandbox: nothing confines you');
    expect(await machine.agent()).toBeGreaterThan(0);
    await server.client.sessions.stop(id);
    const said = await belay(server.data, ['say', id, 'And now?']);
    expect(said).toMatchObject({ code: 0, stdout: expect.stringContaining('kept') });
    await server.client.sessions.remove(id);
    await until('its agent is gone', () => machine.agents().length === 0);
    await until('its files are gone', () => sessionsOf(home).length === 0);
  });
});

const sessionsOf = (home: string): string[] => {
  const entries = filesBelow(join(home, 'belay/joined'));
  return entries.filter((name) => /sessions\/belay-/.test(name));
};
