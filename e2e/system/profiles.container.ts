import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isEvent, type Event } from '@belay/protocol';
import { belay, describeSystem, type Followed, run, script, start } from '@belay/testkit';

const results = (session: Followed): string[] =>
  session.events
    .filter((event) => isEvent(event, 'result'))
    .map((event) => JSON.stringify(event.args.output));
const prompted = (session: Followed) =>
  session.events.find((event) => isEvent(event, 'say'))?.args['sandbox'];

describeSystem('sandbox profiles', (server) => {
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

  it('share folders of the host that the command line names, one of them read-only', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'belay-mount-'));
    for (const name of ['reports', 'results']) {
      mkdirSync(join(folder, name));
      chownSync(join(folder, name), 1000, 1000);
    }
    writeFileSync(join(folder, 'reports/a.txt'), 'one\ntwo\n');
    const model = script(server.data, [
      {
        calls: [run('wc -l < /mnt/reports/a.txt | tee /mnt/results/lines; touch /mnt/reports/b')],
      },
      { expect: '2.*Read-only file system', finish: 'counted' },
    ]);
    const mounts = ['--mount', 'reports:ro', '--mount', './results'];
    const args = ['run', 'Count', '--model', model, '--approve', 'auto', ...mounts];
    const { code, stdout } = await belay(server.data, args, { cwd: folder });
    expect({ code, lines: readFileSync(join(folder, 'results/lines'), 'utf8') }).toEqual({
      code: 0,
      lines: '2\n',
    });
    expect(stdout).toContain(`/mnt/reports is ${folder}/reports of the host, read-only`);
    expect(readdirSync(join(folder, 'reports'))).toEqual(['a.txt']);
    const refused = await belay(server.data, ['run', 'x', '--model', model, '--mount', '/etc:ro']);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('The folder /etc belongs to the system'),
    });
    rmSync(folder, { recursive: true });
  });
});
