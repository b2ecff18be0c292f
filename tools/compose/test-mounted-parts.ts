import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { DockerClient } from '@belay/containers';
import { until } from '@belay/testing';
import { SecondEngine } from '@belay/testkit';
import Docker from 'dockerode';
import { copyRuntime } from '../copy-runtime.ts';

/** Reads all that it was given, and connects to its socket until it was told the second word. */
const program = `
  const fs = require('node:fs'), net = require('node:net');
  const tried = (work) => { try { return work(); } catch ({ code }) { return code; } };
  const hosts = fs.readFileSync('/etc/hosts', 'utf8');
  const entries = fs.readdirSync('/run/belay');
  const written = tried(() => fs.writeFileSync('/run/belay/new', ''));
  const words = [];
  (function ask() {
    const again = () => setTimeout(ask, 20);
    net.connect('/run/belay/agent.sock').on('error', again).on('data', (word) => {
      words.push(String(word));
      if (words.at(-1) !== 'second') return again();
      console.log(JSON.stringify({ hosts, entries, written, words: [...new Set(words)] }));
      process.exit();
    });
  })();`;

/**
 * On an engine that mounts parts of volumes, a container gets its own folder of the sockets’ volume and no other, and
 * reaches the socket that a new server puts there.
 */
export async function testMountedParts(
  programs: { dockerd: string },
  runtime: string,
): Promise<void> {
  const engine = await SecondEngine.start(programs);
  let server: Server | undefined;
  try {
    await copyRuntime(engine, runtime);
    const docker = new Docker({ socketPath: engine.host.replace('unix://', '') });
    await docker.createVolume({ Name: 'sockets' });
    const { Mountpoint } = await docker.getVolume('sockets').inspect();
    for (const name of ['one', 'other']) mkdirSync(join(Mountpoint, name));
    writeFileSync(join(Mountpoint, 'one/hosts'), '127.0.0.1 one\n');
    const listen = async (word: string): Promise<Server> => {
      const made = createServer((socket) => void socket.end(word));
      await once(made.listen(join(Mountpoint, 'one/agent.sock')), 'listening');
      return made;
    };
    server = await listen('first');

    const folder = '/run/belay';
    const sockets = { folder, volume: 'sockets' };
    const client = new DockerClient({ instance: 'parts', dockerHost: engine.host, sockets });
    const mount = (path: string, Target: string) => ({
      Type: 'bind' as const,
      Source: join(folder, path),
      Target,
      ReadOnly: true,
    });
    const container = await client.create({
      Image: runtime.replace(/^belay-runtime-(\w+).*$/, 'belay/runtime:$1'),
      Entrypoint: ['/opt/belay/node', '-e', program],
      HostConfig: {
        NetworkMode: 'none',
        Mounts: [mount('one', '/run/belay'), mount('one/hosts', '/etc/hosts')],
      },
    });
    const { Mounts } = await docker.getContainer(container).inspect();
    assert.deepEqual(
      Mounts.map(({ Type, Name }) => [Type, Name]),
      [
        ['volume', 'sockets'],
        ['volume', 'sockets'],
      ],
    );
    const reached = once(server, 'connection');
    await client.start(container);
    await reached;
    await once(server.close(), 'close');
    server = await listen('second');
    await until('its end', async () => (await client.exit(container)) !== null);
    assert.deepEqual(JSON.parse(await client.lastLines(container)), {
      hosts: '127.0.0.1 one\n',
      entries: ['agent.sock', 'hosts'],
      written: 'EROFS',
      words: ['first', 'second'],
    });
  } finally {
    server?.close();
    await engine.dispose();
  }
}
