import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

it('says at once what a server in a cluster lacks, without a Docker Engine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'start-'));
  const script = join(__dirname, 'start.mjs');
  const start = (env) =>
    spawnSync(process.execPath, [script, '--no-open', '--port', '0', '--data', folder], {
      encoding: 'utf8',
      env: { PATH: folder, DOCKER_HOST: `unix://${folder}/none`, ...env },
    });
  const kubernetes = { BELAY_ENGINE: 'kubernetes', BELAY_AGENT_URL: 'wss://192.0.2.1:4601' };
  const { status, stderr } = start(kubernetes);
  expect(stderr.trim()).toBe(
    'BELAY_ENGINE=kubernetes needs BELAY_IMAGE and BELAY_RUNTIME_IMAGE: see docs/kubernetes.md.',
  );
  expect(status).toBe(1);
  expect(start({}).stderr).toMatch(/^\nNo Docker Engine answers at DOCKER_HOST/);
  rmSync(folder, { recursive: true });
});
