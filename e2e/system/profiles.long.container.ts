import { isEvent, type Event } from '@belay/protocol';
import { describeSystem, run, script, start } from '@belay/testkit';
import { commitAndInstall } from './commit-and-install.js';
import { results, prompted } from './sandbox-outputs.js';

describeSystem('the profiles of sandboxes', (server) => {
  const sessions = () => server.client.sessions;

  it('let root install a system package from the machine’s mirror, and keep its files', async () => {
    const install =
      'apt-get update -qq && apt-get install -y -qq --no-install-recommends hello 2>&1; hello';
    const model = script(server.data, [
      { calls: [run(install, { wait: 110 })] },
      { expect: 'Hello, world!', calls: [run('id -u; echo one > made.txt; chown 1:1 made.txt')] },
      { calls: [run('echo two > made.txt')] },
      { finish: 'installed' },
    ]);
    const session = await start(server, { task: 'Install', model, sandbox: 'root' });
    await session.finished();
    expect(results(session)[1]).toContain('0\\n');
    expect(prompted(session)).toContain('System packages can be installed.');
    expect(await sessions().get(session.id)).toMatchObject({ sandbox: 'root' });

    const commits = session.events.filter((event): event is Event => isEvent(event, 'commit'));
    expect(commits.map((event) => event.message)).toEqual([
      'Recorded the workspace at the start',
      'Recorded made.txt',
      'Recorded made.txt',
    ]);
    const patch = Buffer.from(await sessions().patch(session.id)).toString();
    expect(patch).toContain('+two');
    await sessions().rewind(session.id, { seq: commits[1]!.seq, what: 'files' });
    const read = () => sessions().call(session.id, 'files.read', { path: 'made.txt' });
    expect(await read()).toMatchObject({ content: 'one\n' });

    // The new container has the workspace’s files and the image’s unchanged system.
    await sessions().stop(session.id);
    await sessions().restart(session.id);
    // The script has ended, so the model can only say so.
    const renewed = await session.event(({ action }) => action === 'renewed');
    await session.finished(renewed.seq);
    expect(await read()).toMatchObject({ content: 'one\n' });
    session.close();
  });

  it('report in a hardened sandbox that packages need root, and offer no way to become root', async () => {
    const model = script(server.data, [
      {
        calls: [
          run(
            'id -u; apt-get install -y hello 2>&1 | tail -1; touch /usr/x; cat /proc/self/status',
          ),
        ],
      },
      { finish: 'tried' },
    ]);
    const session = await start(server, { task: 'Install', model });
    await session.finished();
    const [output] = results(session);
    expect(output).toContain('1000\\n');
    expect(output).toMatch(/Read-only file system|Permission denied/);
    expect(output).toMatch(/CapEff:\\t0+\\n/);
    expect(prompted(session)).toContain('takes a session started with the root profile');
    expect(await sessions().get(session.id)).toMatchObject({ sandbox: 'hardened' });
    session.close();
  });

  it('commits, and installs with pip, as root', () => commitAndInstall(server, 'root'));
});
