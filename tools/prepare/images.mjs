import { Readable } from 'node:stream';
import { root } from '../product-node.mjs';
import { prepareBaseImage } from './base-image.mjs';
import { proxyArguments } from './host-settings.mjs';
import {
  ecosystemsSpec,
  hashOf,
  imageSpecs,
  runtimeSpec,
  systemSpec,
  withTemporaryFolder,
} from './image-specs.mjs';
import { lastLines } from './run-program.mjs';
import { withLock } from './lock.mjs';
import { filter, installationLabel, isOld, removeOldRuntimes } from './old-runtimes.mjs';
import { Instruction } from './steps.mjs';
import { tar } from './tar.mjs';

/** The base of the images below, built if missing. */
export async function prepareSystemImage(docker, say) {
  return ensureImage(docker, systemSpec(), say);
}

/** The sandbox’s image, built if missing; returns its tag. */
export async function prepareSandboxImage(docker, say) {
  return ensureImage(docker, imageSpecs().sandbox, say);
}

/** Images for tests only: plain Debian, and busybox. */
export async function prepareTestImages(docker, say) {
  const { debian, busybox } = imageSpecs();
  return {
    debian: await ensureImage(docker, debian, say),
    busybox: await ensureImage(docker, busybox, say),
  };
}

/** PostgreSQL for the test of the compose file. */
export function preparePostgresImage(docker, say) {
  return ensureImage(docker, imageSpecs().postgres, say);
}

/**
 * The image for the long test of package managers: the sandbox’s image with the settings of a host.
 */
export function prepareEcosystemsImage(docker, settings, say) {
  return ensureImage(docker, ecosystemsSpec(settings, imageSpecs().sandbox), say);
}

/** The name of the runtime’s image, for hosts that cannot mount its volume. */
export const runtimeImage = () => runtimeSpec(imageSpecs().runtimeBase).tag;

/** The runtime’s image and a volume filled from it; returns the volume’s name. */
export async function prepareRuntime(docker, say) {
  const spec = runtimeSpec(imageSpecs().runtimeBase);
  // One volume per installation: another one may have the same build, and removes its own volume
  // when it is old.
  const volume = `belay-runtime-${spec.hash}-${hashOf({ files: [], versions: [root] }).slice(0, 6)}`;
  if (await isFilled(docker, volume)) return volume;
  await ensureImage(docker, spec, say);
  await withLock('runtime', () => fill(docker, volume, spec));
  await removeOldRuntimes(docker, { current: volume, installation: root });
  return volume;
}

async function ensureImage(docker, spec, say) {
  const path = `/images/${spec.tag}/json`;
  if (await docker.exists(path)) return spec.tag;
  const from = await (spec.from
    ? ensureImage(docker, spec.from, say)
    : prepareBaseImage(docker, say));
  const lock = `build-${repositoryOf(spec.tag).replace('belay/', '')}`;
  const onWait = () => say('another command builds images, waiting for it');
  await withLock(
    lock,
    async () => {
      if (await docker.exists(path)) return;
      say(`building ${spec.tag}`);
      await buildImage(docker, spec, from);
      await removeLeftovers(docker, spec.tag);
    },
    { onWait },
  );
  return spec.tag;
}

/** Uses the classic builder over the Engine API, which needs no CLI and is in every engine. */
async function buildImage(docker, spec, from) {
  const args = { ...proxyArguments(), BASE_IMAGE: from };
  const query = new URLSearchParams({
    t: spec.tag,
    version: '1',
    rm: '1',
    forcerm: '1',
    buildargs: JSON.stringify(args),
    ...(spec.offline && { networkmode: 'none' }),
    labels: JSON.stringify({ 'belay.image': spec.tag }),
  });
  let said = '';
  await withTemporaryFolder(async (folder) => {
    const entries = [...spec.files, ...(await spec.large(folder))];
    await docker
      .stream(`/build?${query}`, {
        body: Readable.from(tar(entries)),
        type: 'application/x-tar',
        onLine: ({ stream }) => (said = (said + (stream ?? '')).slice(-4000)),
      })
      .catch((error) => {
        throw new Instruction(
          `The image ${spec.tag} cannot be built: ${error.message}\n${lastLines(said)}`,
        );
      });
  });
}

/**
 * Creates a container that never starts. This fills a new volume, marks it as filled, and protects
 * it from `docker volume prune`.
 */
async function fill(docker, volume, spec) {
  if (await isFilled(docker, volume)) return;
  // A volume without its container may be incomplete; the engine refuses to remove one that is in
  // use.
  await docker.remove(`/volumes/${volume}`);
  await docker.post(`/volumes/create`, { Name: volume, Labels: { 'belay.runtime': spec.hash } });
  await docker.post(`/containers/create?name=${volume}`, {
    Image: spec.tag,
    Labels: { 'belay.runtime': spec.hash, [installationLabel]: root },
    HostConfig: {
      NetworkMode: 'none',
      Mounts: [{ Type: 'volume', Source: volume, Target: '/opt/belay' }],
    },
  });
}

async function isFilled(docker, volume) {
  const [container, found] = await Promise.all([
    docker.exists(`/containers/${volume}/json`),
    docker.exists(`/volumes/${volume}`),
  ]);
  return container && found;
}

const repositoryOf = (tag) => tag.split(':')[0];

/** Removes the stages of this build, and unused images of the same name from old builds. */
async function removeLeftovers(docker, tag) {
  const stages = filter({ dangling: ['true'], label: [`belay.stage=${repositoryOf(tag)}`] });
  await docker.post(`/images/prune?${stages}`);
  const images = await docker.get(`/images/json?${filter({ reference: [repositoryOf(tag)] })}`);
  for (const { RepoTags, Created } of images)
    if (isOld(Created) && !RepoTags?.includes(tag))
      for (const old of RepoTags ?? []) await docker.remove(`/images/${old}`);
}
