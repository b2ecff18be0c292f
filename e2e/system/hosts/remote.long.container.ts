import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DockerClient, DockerHost, labels, RemoteHost, serveHost } from '@belay/containers';
import { hostCalls, hostServerCalls } from '@belay/protocol';
import { memoryConnections } from '@belay/rpc';
import { prepared, removeSandboxes } from '@belay/testkit';
import { until } from '@belay/testing';
import { describeHost } from './describe-host.js';

/** Everything of this test has it as a label, by which what is left is removed. */
const data = mkdtempSync(join(tmpdir(), 'hosts-'));
const image = () => prepared('BELAY_TEST_IMAGE');

describeHost('the Docker Engine of another machine as a host of containers', () => ({
  images: { default: image(), other: prepared('BELAY_TEST_DEBIAN') },
  open: async (instance) => {
    const docker = new DockerHost(
      new DockerClient({ instance, dockerHost: prepared('DOCKER_HOST') }),
      {
        image: image(),
        runtime: prepared('BELAY_RUNTIME'),
        labels: { [labels.instance]: instance, [labels.data]: data },
        sockets: { folder: data, name: instance },
        browser: null,
        memorySetting: 'the limit',
      },
    );
    const { server, agent } = memoryConnections({ server: hostServerCalls, agent: hostCalls });
    serveHost(agent, docker);
    await until('the machine is connected', () => server.connected);
    const remote = new RemoteHost('a machine', server, docker.can);
    const close = remote.close.bind(remote);
    return Object.assign(remote, {
      async close() {
        await close();
        await agent.close();
        await docker.close();
      },
    });
  },
  dispose: () => removeSandboxes(data),
}));
