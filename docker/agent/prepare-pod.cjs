// Runs before everything else in a pod of Kubernetes, as root. Brings the runtime, because a pod cannot mount one that
// others share, makes the folders of its volumes with their owners, and waits until the network policy holds, which some
// clusters apply late. Its argument is JSON: {"runtime": FOLDER, "folders": [{"path", "owner", "mode"}], "closed": [{"host",
// "port"}]}. Without confinement it fails, and with it the pod.
const { chmodSync, chownSync, cpSync, mkdirSync } = require('node:fs');
const { connect } = require('node:net');

/** How long an address may take to accept a connection, and the policy to hold, in ms. */
const connectTimeoutMs = 400;
const policyTimeoutMs = 20_000;

const { runtime, folders, closed } = JSON.parse(process.argv[2]);
cpSync(__dirname, runtime, { recursive: true, verbatimSymlinks: true });
for (const { path, owner, mode } of folders) {
  try {
    mkdirSync(path);
  } catch (error) {
    // Of an earlier pod, whose programs own it.
    if (error.code === 'EEXIST') continue;
    throw error;
  }
  // Independent of the mask, and before the owner changes: then this process may not.
  chmodSync(path, mode);
  chownSync(path, owner, owner);
}
const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
void untilClosed([{ host, port }, ...closed]);

/** The cluster’s API, and what the pod must not reach either. */
async function untilClosed(targets) {
  const end = Date.now() + policyTimeoutMs;
  for (const target of targets)
    while (await isOpen(target))
      if (Date.now() > end)
        throw new Error(
          `pods can connect to ${target.host}:${target.port}: apply the NetworkPolicy of docs/kubernetes.md, and use a network plugin that enforces it`,
        );
}

function isOpen(target) {
  return new Promise((resolve) => {
    const socket = connect({ ...target, timeout: connectTimeoutMs });
    const end = (is) => () => {
      socket.destroy();
      resolve(is);
    };
    socket.on('connect', end(true)).on('error', end(false)).on('timeout', end(false));
  });
}
