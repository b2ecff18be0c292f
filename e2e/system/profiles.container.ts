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
import { belay, describeSystem, run, script, start } from '@belay/testkit';
import { results, prompted } from './sandbox-outputs.js';

describeSystem('sandbox profiles', (server) => {
  const sessions = () => server.client.sessions;

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
