// Tries, in a pod of Kubernetes, what no pod may reach: see network-probe.ts. Its argument is JSON: {"listen": PORT} for
// one that others try to reach, or {"targets": [{"what", "host", "port"}]}, to which it adds what only a pod knows. Prints
// “listening” then, or what it found.
const { readFileSync } = require('node:fs');
const { createServer } = require('node:net');
const { networkInterfaces } = require('node:os');
const { setTimeout: delay } = require('node:timers/promises');
const { reaches } = require('./reaches.cjs');

/** The time limits of a connection, and of a policy that is applied late; and the delay between two tries, in ms. */
const connectTimeoutMs = 1_000;
const policyTimeoutMs = 20_000;
const retryDelayMs = 500;
/** A busy cluster may drop one packet by chance. */
const closedTries = 2;

const { listen, targets } = JSON.parse(process.argv[2]);
void (listen === undefined ? probe() : beReached());

async function beReached() {
  const server = createServer((socket) => socket.on('error', () => {}).end());
  await new Promise((resolve) => server.listen({ host: '::', port: listen }, resolve));
  const own = Object.values(networkInterfaces())
    .flat()
    .filter(({ internal }) => !internal);
  const tries = own.map(({ address: host }) => reaches({ host, port: listen }, connectTimeoutMs));
  console.log((await Promise.all(tries)).includes(true) ? 'listening' : 'not reached by itself');
}

async function probe() {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  const servers = readFileSync('/etc/resolv.conf', 'utf8').matchAll(/^nameserver (\S+)$/gm);
  const all = [
    ...targets,
    { what: 'api', host, port: Number(port) },
    ...[...servers].flatMap(([, server]) =>
      [false, true].map((udp) => ({ what: 'names', host: server, port: 53, udp })),
    ),
  ];
  const end = Date.now() + policyTimeoutMs;
  const found = await Promise.all(
    all.map(async (target) => ({ ...target, isOpen: await staysOpen(target, end) })),
  );
  for (const one of found) console.log(JSON.stringify(one));
}

/** Whether a target can still be reached at the end. */
async function staysOpen(target, end) {
  for (let closed = 0; closed < closedTries;) {
    closed = (await reaches(target, connectTimeoutMs)) ? 0 : closed + 1;
    if (closed === 0 && Date.now() > end) return true;
    await delay(retryDelayMs);
  }
  return false;
}
