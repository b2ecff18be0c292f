const { execFileSync } = require('node:child_process');
const { resolve } = require('node:path');

const output = { stdio: ['ignore', 'ignore', 'inherit'] };

/**
 * Builds the server’s image, on the sandbox’s image, because a test needs no hub. Gives the cluster the images of these
 * tests, by the command in BELAY_TEST_CLUSTER_LOAD, such as “kind load docker-image”; without it, its nodes have them or
 * pull them.
 */
module.exports = () => {
  const { BELAY_TEST_CLUSTER_LOAD: command, BELAY_TEST_IMAGE: base } = process.env;
  const server = (process.env.BELAY_TEST_SERVER_IMAGE = 'belay/test-server:latest');
  const bases = ['NODE_IMAGE', 'DEBIAN_IMAGE'].flatMap((name) => [
    '--build-arg',
    `${name}=${base}`,
  ]);
  const file = ['--file', 'docker/server/Dockerfile'];
  execFileSync('docker', ['build', '--quiet', ...file, ...bases, '--tag', server, '.'], {
    ...output,
    cwd: resolve(__dirname, '../..'),
    // The classic builder is in every engine.
    env: { ...process.env, DOCKER_BUILDKIT: '0' },
  });
  if (!command) return;
  const [program, ...words] = command.split(' ');
  const names = ['BELAY_TEST_IMAGE', 'BELAY_TEST_DEBIAN', 'BELAY_RUNTIME_IMAGE'];
  const images = [...names.map((name) => process.env[name]), server];
  execFileSync(program, [...words, ...images], output);
};
