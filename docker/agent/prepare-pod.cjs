// Runs before everything else in a pod of Kubernetes, as root. Brings the runtime, because a pod cannot mount one that
// others share, makes the folders of its volumes with their owners, and waits until the network policy holds, which some
// clusters apply late. Then it fetches the layers of the pod’s images from the server. Its argument is JSON: {"runtime":
// FOLDER, "folders": [{"path", "owner", "mode"}], "closed": [{"host", "port"}], "layers": {"count", "address",
// "connection"}}, with null for a pod that need not be confined. Otherwise it fails without confinement, and with it the
// pod.
const { once } = require('node:events');
const {
  chmodSync,
  chownSync,
  cpSync,
  createWriteStream,
  mkdirSync,
  readFileSync,
} = require('node:fs');
const { request } = require('node:https');
const { join } = require('node:path');
const { pipeline } = require('node:stream/promises');
const { setTimeout: delay } = require('node:timers/promises');
const { reaches } = require('./reaches.cjs');

/** How long an address may take to accept a connection, and the policy to hold, in ms. */
const connectTimeoutMs = 400;
const policyTimeoutMs = 20_000;

/** How long the server may not be reached, as policies may be applied late, and the delay between two tries, in ms. */
const serverTimeoutMs = 20_000;
const retryDelayMs = 200;

const { runtime, folders, closed, layers } = JSON.parse(process.argv[2]);
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
void finish();

async function finish() {
  if (closed) await untilClosed(closed);
  if (layers.count === 0) return;
  mkdirSync(join(runtime, 'layers'), { mode: 0o700 });
  for (let place = 0; place < layers.count; place++) await fetchLayer(place);
}

/** As it is: what the pod runs unpacks it. */
async function fetchLayer(place) {
  const read = (name) => readFileSync(join(layers.connection, name), 'utf8').trim();
  const { hostname, port } = new URL(layers.address);
  const options = {
    host: hostname.replaceAll(/[[\]]/g, ''),
    port,
    path: `/layers/${place}`,
    ca: read('ca.pem'),
    agent: false,
    headers: { authorization: `Bearer ${read('token')}` },
  };
  const response = await untilReached(options);
  if (response.statusCode !== 200)
    throw new Error(`the server responds with ${response.statusCode} to a request for a layer`);
  await pipeline(response, createWriteStream(join(runtime, 'layers', `${place}`), { mode: 0o600 }));
}

async function untilReached(options) {
  const end = Date.now() + serverTimeoutMs;
  for (;;) {
    try {
      const asked = request(options).end();
      const [response] = await once(asked, 'response');
      return response;
    } catch (error) {
      if (Date.now() > end) throw error;
      await delay(retryDelayMs);
    }
  }
}

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
