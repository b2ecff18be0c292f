// Runs before everything else in a pod of Kubernetes, as root. Brings the runtime, because a pod cannot mount one that
// others share, makes the folders of its volumes with their owners, and waits until the network policy holds, which some
// clusters apply late. Its argument is JSON: {"runtime": FOLDER, "folders": [{"path", "owner", "mode"}], "closed": [{"host",
// "port"}]}, with null for a pod that need not be confined. Otherwise it fails without confinement, and with it the pod.
const { chmodSync, chownSync, cpSync, mkdirSync } = require('node:fs');
const { reaches } = require('./reaches.cjs');

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
if (closed) void untilClosed(closed);

/** Of the cluster’s API, and what the pod must not reach either. */
async function untilClosed(others) {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  const end = Date.now() + policyTimeoutMs;
  for (const target of [{ host, port }, ...others])
    while (await reaches(target, connectTimeoutMs))
      if (Date.now() > end)
        throw new Error(
          `pods can connect to ${target.host}:${target.port}: apply the NetworkPolicy of docs/kubernetes.md, and use a network plugin that enforces it`,
        );
}
