import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The network of a cluster for tests that runs on this machine: there can be one at a time. */
const usedNetwork = '/sys/class/net/kube-node';

/** Until a cluster has started, in ms. */
const startTimeout = 600_000;

/** There is no cluster; the message says why. */
export class NoCluster extends Error {}

/** For tests of what the failure of a part of it does. */
const control = `${process.execPath} ${fileURLToPath(new URL('control-cluster.mjs', import.meta.url))}`;

/**
 * A cluster for tests: the one that BELAY_TEST_CLUSTER names, or else one that is started by the command in
 * BELAY_TEST_CLUSTER_COMMAND. Throws `NoCluster`.
 * @returns {Promise<{ environment: Record<string, string>, down: () => Promise<void> }>} The variables of the tests, and
 *   what takes the cluster down if it was started here, which also happens when this process ends in any other way.
 */
export async function partCluster(env = process.env, network = usedNetwork) {
  const { BELAY_TEST_CLUSTER: given, BELAY_TEST_CLUSTER_COMMAND: command } = env;
  if (given) return { environment: {}, down: async () => {} };
  if (!command)
    throw new NoCluster(
      'BELAY_TEST_CLUSTER names no cluster, and BELAY_TEST_CLUSTER_COMMAND nothing that starts one',
    );
  if (existsSync(network))
    throw new NoCluster(
      'another cluster for tests runs on this machine; BELAY_TEST_CLUSTER can name it',
    );
  return started(command, env);
}

async function started(command, env) {
  const folder = mkdtempSync(join(env.TMPDIR || tmpdir(), 'belay-cluster-'));
  const own = { CLUSTER_DIR: folder, PATH: [join(folder, 'bin'), env.PATH].join(delimiter) };
  const down = downAtTheEnd(command, { ...env, CLUSTER_DIR: folder });
  try {
    const kubeconfig = await up(command, { ...env, CLUSTER_DIR: folder });
    const environment = {
      ...own,
      BELAY_TEST_CLUSTER: kubeconfig,
      BELAY_TEST_CLUSTER_LOAD: `${command} load`,
      BELAY_TEST_CLUSTER_CONTROL: control,
    };
    return { environment, down };
  } catch (error) {
    await down();
    throw error;
  }
}

/**
 * Installs agent-sandbox in a cluster that was started here. The variables of its tests: none if it could not be
 * installed, or another one was given.
 */
export async function addAgentSandbox({ environment }, env = process.env) {
  if (!environment.BELAY_TEST_CLUSTER) return {};
  const options = { env: { ...env, ...environment }, timeout: startTimeout };
  return promisify(execFile)(
    'sh',
    ['-c', `${env.BELAY_TEST_CLUSTER_COMMAND} agent-sandbox`],
    options,
  ).then(
    () => ({ BELAY_TEST_AGENT_SANDBOX: 'true' }),
    () => ({}),
  );
}

async function up(command, env) {
  const options = { env, timeout: startTimeout };
  const { stdout } = await promisify(execFile)('sh', ['-c', `${command} up`], options).catch(
    ({ message, stderr, killed }) => {
      const why = killed
        ? `it took longer than ${startTimeout / 1000} s`
        : (stderr || message).trim();
      throw new NoCluster(`“${command} up” failed: ${why}`);
    },
  );
  const [, kubeconfig] = /^KUBECONFIG=(.+)$/m.exec(stdout) ?? [];
  if (!kubeconfig) throw new NoCluster(`“${command} up” did not print KUBECONFIG=…`);
  return kubeconfig;
}

/** A process that waits until its standard input closes, which happens however this one ends. */
function downAtTheEnd(command, env) {
  // What did not end may still use its folder.
  const script = `cat; if ${command} down >&2; then rm -rf "$CLUSTER_DIR"; else rmdir "$CLUSTER_DIR"; fi`;
  const watcher = spawn('sh', ['-c', script], {
    env,
    // Ctrl-C in the terminal must end the run, but not its cleanup.
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = new Promise((done) => watcher.once('exit', done));
  return async () => {
    watcher.stdin.end();
    await ended;
  };
}
