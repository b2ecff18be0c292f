import { isFact, type Event } from '@belay/protocol';
import { describeSystem } from '../describe-system.js';
import { start, type Followed } from '../follow.js';
import { run, script } from '../script.js';

const results = (session: Followed): string[] =>
  session.events
    .filter((event) => isFact(event, 'result'))
    .map((event) => JSON.stringify(event.args.output));
const prompted = (session: Followed) =>
  session.events.find((event) => isFact(event, 'say'))?.args['sandbox'];

describeSystem('sandbox profiles', (server) => {
  const sessions = () => server.client.sessions;

  it('let root install a system package from the machine’s own mirror, and keep its files', async () => {
    const install =
      'apt-get update -qq && apt-get install -y -qq --no-install-recommends hello 2>&1; hello';
    const model = script(server.data, [
      { calls: [run(install, { wait: 45 })] },
      { expect: 'Hello, world!', calls: [run('id -u; echo one > made.txt; chown 1:1 made.txt')] },
      { calls: [run('echo two > made.txt')] },
      { finish: 'installed' },
    ]);
    const session = await start(server, { task: 'Install', model, sandbox: 'root' });
    await session.finished();
    expect(results(session)[1]).toContain('0\\n');
    expect(prompted(session)).toContain('System packages can be installed.');
    expect(await sessions().get(session.id)).toMatchObject({ sandbox: 'root' });

    const commits = session.events.filter((event): event is Event => isFact(event, 'commit'));
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

    // A new container has the files, and the system of the image.
    await sessions().stop(session.id);
    await sessions().restart(session.id);
    // The script is played to its end: the agent asks how to go on.
    await session.event(({ action }) => action === 'ask');
    expect(await read()).toMatchObject({ content: 'one\n' });
    session.close();
  });

  it('say in a hardened one that packages take root, and give no way to it', async () => {
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
});
