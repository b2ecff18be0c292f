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
import { type Event, isEvent } from '@belay/protocol';
import { commitAndInstall } from './commit-and-install.js';

const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AAQQxwFgBB0gX7h/C5SAAAAABJRU5ErkJggg==';
const connection = (verdict: string) => (event: Event) =>
  isEvent(event, 'egress') && event.args.verdict === verdict;

// profiles.long.container.ts has the root profile, egress-install.long.container.ts installs packages.
describeSystem('sandboxes:', (server) => {
  describe('sandbox profiles', () => {
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
      const refused = await belay(server.data, [
        'run',
        'x',
        '--model',
        model,
        '--mount',
        '/etc:ro',
      ]);
      expect(refused).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('The folder /etc belongs to the system'),
      });
      rmSync(folder, { recursive: true });
    });
  });

  describe('a sandbox out of the box', () => {
    it('commits, and installs with pip, as hardened', () => commitAndInstall(server, 'hardened'));

    it('shows its model a picture of the workspace', async () => {
      const input = { path: 'a.png', content: picture, encoding: 'base64' };
      const model = script(server.data, [
        { calls: [{ operation: 'files.write', input }] },
        { calls: [{ operation: 'files.read', input: { path: 'a.png' } }] },
        { expect: '3 × 2 pixels', finish: 'Seen.' },
      ]);
      const session = await start(server, { task: 'Look', model });
      await session.finished();
      const read = (event: Event) => isEvent(event, 'result') && event.args.images.length > 0;
      const result = await session.event(read);
      const [image = ''] = isEvent(result, 'result') ? result.args.images : [];
      const bytes = await server.client.sessions.blob(session.id, image);
      expect(Buffer.from(bytes).toString('base64')).toBe(picture);
      session.close();
    });
  });

  describe('egress', () => {
    it('refuses what the profile does not name, the metadata address and the host itself', async () => {
      const get = (url: string) =>
        `curl -sS -o /dev/null -w '%{http_code} %{http_connect}\\n' ${url} 2>&1`;
      const model = script(server.data, [
        {
          calls: [
            run(
              [
                get('http://169.254.169.254/latest/meta-data/'),
                get(`${server.url}/health`),
                get('https://example.org/'),
              ].join('; '),
            ),
            run(
              'unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY; curl -sS --max-time 5 https://example.org 2>&1',
            ),
          ],
        },
        { expect: 'No host is open.', finish: 'tried' },
      ]);
      const session = await start(server, {
        task: 'Escape',
        model,
        egress: { profile: 'list', hosts: [] },
      });
      await session.finished();
      const outputs = session.events
        .filter((event) => isEvent(event, 'result'))
        .map((event) => JSON.stringify(event.args.output));
      expect(outputs[0]).toMatch(/403/);
      // Nothing listens on this port of the sandbox: its localhost is not the host’s.
      expect(outputs[0]).not.toMatch(/200/);
      expect(outputs[1]).toMatch(/Could not resolve|Couldn't connect|Failed to connect/);
      await session.event(connection('refused'));
      expect(session.events.some(connection('allowed'))).toBe(false);
      session.close();
    });

    it('turns a refused host into a question that can be answered', async () => {
      const model = script(server.data, [
        {
          calls: [
            run("curl -sS -o /dev/null -w '%{http_connect}' https://forbidden.example.org/ 2>&1"),
          ],
        },
        { expect: 'does not allow forbidden.example.org:443: No', finish: 'tried' },
      ]);
      const session = await start(server, {
        task: 'Ask',
        model,
        approvals: 'ask',
        egress: { profile: 'list', hosts: [] },
      });
      const command = await session.event((event) => event.action === 'approval');
      await server.client.sessions.answer(session.id, String(command.args.id), {
        verdict: 'approved',
      });
      const host = await session.event((event) => event.action === 'approval', command.seq);
      expect(host.args).toMatchObject({
        operation: 'egress',
        subject: 'forbidden.example.org:443',
        risk: 'network',
      });
      await server.client.sessions.answer(session.id, String(host.args.id), {
        verdict: 'rejected',
        reason: 'No.',
      });
      await session.finished();
      session.close();
    });
  });
});
