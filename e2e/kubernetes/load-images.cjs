const { execFileSync } = require('node:child_process');

/**
 * Gives the cluster the images of these tests, by the command in BELAY_TEST_CLUSTER_LOAD, such as “kind load
 * docker-image”; without it, its nodes have them or pull them.
 */
module.exports = () => {
  const command = process.env.BELAY_TEST_CLUSTER_LOAD;
  if (!command) return;
  const [program, ...words] = command.split(' ');
  const images = ['BELAY_TEST_IMAGE', 'BELAY_TEST_DEBIAN', 'BELAY_RUNTIME_IMAGE'].map(
    (name) => process.env[name],
  );
  execFileSync(program, [...words, ...images], { stdio: ['ignore', 'ignore', 'inherit'] });
};
