import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DockerClient, DockerHost, labels } from '@belay/containers';
import { prepared, removeSandboxes } from '@belay/testkit';
import { describeHost } from './describe-host.js';

/** Everything of this test has it as a label, by which what is left is removed. */
const data = mkdtempSync(join(tmpdir(), 'hosts-'));
const image = () => prepared('BELAY_TEST_IMAGE');

describeHost('the Docker Engine as a host of containers', () => ({
  images: { default: image(), other: prepared('BELAY_TEST_DEBIAN') },
  open: (instance) =>
    new DockerHost(new DockerClient({ instance, dockerHost: prepared('DOCKER_HOST') }), {
      image: image(),
      runtime: prepared('BELAY_RUNTIME'),
      labels: { [labels.instance]: instance, [labels.data]: data },
      sockets: { folder: data, name: instance },
      browser: null,
      memorySetting: 'the limit',
    }),
  dispose: () => removeSandboxes(data),
}));
