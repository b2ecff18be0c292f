const { execFileSync } = require('node:child_process');
const { resolve } = require('node:path');

const output = { stdio: ['ignore', 'ignore', 'inherit'] };
const root = resolve(__dirname, '../..');
const server = 'belay/test-server:latest';
/** The tests that install the server in the cluster. */
const serverTests = ['docs', 'replicas'].map((name) => `e2e/kubernetes/${name}.container.ts`);

/**
 * Gives the cluster the images of these tests. Builds the server’s image, which takes minutes, if its tests are chosen.
 */
module.exports = async ({ testPathPatterns: { patterns } }) => {
  const { loadImages } = await import('../../tools/load-images.mjs');
  const names = [
    'BELAY_TEST_IMAGE',
    'BELAY_TEST_DEBIAN',
    'BELAY_TEST_BUSYBOX',
    'BELAY_RUNTIME_IMAGE',
  ];
  const images = names.map((name) => process.env[name]);
  const isChosen = (test) => patterns.some((one) => new RegExp(one, 'i').test(test));
  if (patterns.length === 0 || serverTests.some(isChosen)) {
    buildServer();
    images.push((process.env.BELAY_TEST_SERVER_IMAGE = server));
  }
  loadImages(images);
};

/** On the sandbox’s image, because a test needs no hub. */
function buildServer() {
  const bases = ['NODE_IMAGE', 'DEBIAN_IMAGE'].flatMap((name) => [
    '--build-arg',
    `${name}=${process.env.BELAY_TEST_IMAGE}`,
  ]);
  const file = ['--file', 'docker/server/Dockerfile'];
  execFileSync('docker', ['build', '--quiet', ...file, ...bases, '--tag', server, '.'], {
    ...output,
    cwd: root,
    // The classic builder is in every engine.
    env: { ...process.env, DOCKER_BUILDKIT: '0' },
  });
}
