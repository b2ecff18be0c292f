import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { Docker } from './prepare/docker-api.mjs';
import { root } from './product-node.mjs';
import { processesUsing } from './test-leftovers.mjs';

/** A run that starts a nested helper in its folder and a container, and then never ends. */
const run = (dockerHost, image) => `
  import { spawn } from 'node:child_process';
  import { writeFileSync } from 'node:fs';
  import { Docker } from '${root}/tools/prepare/docker-api.mjs';
  import { temporaryRun } from '${root}/tools/test-leftovers.mjs';
  const { folder } = temporaryRun('${dockerHost}');
  const env = { ...process.env, TMPDIR: folder };
  spawn('sh', ['-c', 'sleep 1000 & cd "$TMPDIR" && env -i sleep 1000'], { env, detached: true });
  writeFileSync(folder + '/file', '');
  const docker = new Docker('${dockerHost}');
  const { Id } = await docker.post('/containers/create', {
    Image: '${image}', Cmd: ['sleep', '1000'], Labels: { 'belay.data': folder + '/belay-data' },
  });
  await docker.post('/containers/' + Id + '/start');
  console.log(JSON.stringify({ folder, container: Id }));
  setInterval(() => {}, 1000);
`;

/** The engine and the image that npm test prepares. */
const prepared = () => {
  const { DOCKER_HOST: dockerHost, BELAY_TEST_BUSYBOX: image } = process.env;
  if (!dockerHost || !image)
    throw new Error('This needs containers. Run eval "$(node tools/environment.mjs)" first.');
  return { dockerHost, image };
};

async function begun() {
  const { dockerHost, image } = prepared();
  const child = spawn(process.execPath, ['--input-type=module', '-e', run(dockerHost, image)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await new Promise((done) => child.stdout.once('data', done));
  return { child, ...JSON.parse(String(line)) };
}

it.each(['SIGKILL', 'SIGTERM'])('nothing is left behind by a run that %s ended', async (signal) => {
  const { child, folder, container } = await begun();
  const docker = new Docker(process.env.DOCKER_HOST);
  expect(await docker.exists(`/containers/${container}/json`)).toBe(true);
  await until('its helpers', () => processesUsing(folder).length === 3);
  child.kill(signal);
  await until('the clean-up', () => !existsSync(folder));
  expect(processesUsing(folder)).toEqual([]);
  expect(await docker.exists(`/containers/${container}/json`)).toBe(false);
});

it('a concurrent run is not affected', async () => {
  const one = await begun();
  const other = await begun();
  await until('its helpers', () => processesUsing(other.folder).length === 3);
  one.child.kill('SIGKILL');
  await until('the clean-up', () => !existsSync(one.folder));
  expect(readFileSync(join(other.folder, 'file'), 'utf8')).toBe('');
  expect(processesUsing(other.folder)).toHaveLength(3);
  other.child.kill('SIGKILL');
  await until('the clean-up', () => !existsSync(other.folder));
});
