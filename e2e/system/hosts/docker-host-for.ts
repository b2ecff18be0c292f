import { DockerClient, DockerHost, labels, type Labels } from '@belay/containers';
import { prepared } from '@belay/testkit';

/** The engine of the tests as the host of one owner’s containers, with its sockets in this folder. */
export function dockerHostFor(
  instance: string,
  { folder, labels: more }: { folder: string; labels: Labels },
): DockerHost {
  const docker = new DockerClient({ instance, dockerHost: prepared('DOCKER_HOST') });
  return new DockerHost(docker, {
    image: prepared('BELAY_TEST_IMAGE'),
    runtime: prepared('BELAY_RUNTIME'),
    labels: { [labels.instance]: instance, ...more },
    sockets: { folder, name: instance },
    browser: null,
    memorySetting: 'the limit',
  });
}
