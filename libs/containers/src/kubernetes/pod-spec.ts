import type { V1Pod } from '@kubernetes/client-node';
import type { ContainerSpec, KeptFiles, Labels, ProgramSpec } from '../container-host.js';
import {
  agentFlags,
  nodeFlags,
  rootCapabilities,
  separationCapabilities,
} from '../docker/container-spec.js';
import { claimName } from './claims.js';
import { keys } from './names.js';
import { browserBeside, browserFolder, browserVariable } from './pod-browser.js';
import {
  claimed,
  keptFolder,
  keptFolders,
  scratchFolder,
  user,
  workspaceFolder,
} from './pod-folders.js';
import { layersMb, plainImages, type PodImage, type PodImages } from './pod-images.js';
import { asRoot, connectionOf, podOf, resourcesOf, variable, type PodPlace } from './pod-parts.js';
import { podService } from './pod-service.js';
import { folderOfRuntime, unpackingCommand, unpackingOf } from './unpacking-command.js';

/** What a sandbox may write outside of its files and its memory. */
const sandboxWrittenMb = 10_240;
/** The memory that the starter needs in its container. */
const starterMb = 64;
/** What unpacking files of any owner needs. */
const unpackingCapabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID'];
const nodeProgram = (flags: readonly string[], file: string): string[] => [
  `${folderOfRuntime}/node`,
  ...flags,
  `${folderOfRuntime}/${file}`,
];
const firstProgram = (flags: readonly string[], file: string): string[] => [
  `${folderOfRuntime}/init`,
  '--',
  ...nodeProgram(flags, file),
];
const noLayers = { count: 0, mb: 0 };

/** The pod of an agent. Nothing is assumed of the image: no shell, no user, no entry in passwd. */
export function agentPod(spec: ContainerSpec, place: PodPlace): V1Pod {
  const isRoot = spec.rights === 'root';
  const owner = isRoot ? 0 : user;
  const half = Math.max(64, Math.floor(spec.limits.memoryMb / 2));
  const { podFilesMb } = place;
  const files =
    podFilesMb === null
      ? claimed('files', claimName(place.instance, 'files', spec.files))
      : { name: 'files', emptyDir: { sizeLimit: `${podFilesMb}Mi` } };
  const writtenMb = sandboxWrittenMb + (podFilesMb ?? 0);
  const workspace = keptFolder({ volume: files, name: 'workspace', path: '/workspace', owner });
  const shared = scratchFolder('shm', { path: '/dev/shm', mb: 256, owner });
  const beside =
    place.browser && place.browser.image !== spec.image
      ? browserBeside(place.browser, { id: spec.id, owner, shared: [workspace, shared] })
      : null;
  return podOf(
    {
      spec,
      first: {
        command: firstProgram(agentFlags, 'start.cjs'),
        workingDir: '/workspace',
        env: [
          ...connectionOf(place),
          variable('BELAY_USER', `${owner}`),
          variable('BELAY_WORKSPACE', '/workspace'),
          variable('BELAY_STATE', '/var/lib/belay'),
          variable('HOME', '/var/lib/belay/home'),
          ...(beside ? [browserVariable] : []),
          ...Object.entries(spec.env).map(([name, value]) => variable(name, value)),
        ],
        securityContext: asRoot(isRoot ? rootCapabilities : separationCapabilities, !isRoot),
        resources: resourcesOf(spec.limits, writtenMb),
      },
      folders: [
        workspace,
        ...(beside ? [browserFolder(owner)] : []),
        keptFolder({ volume: files, name: 'state', path: '/var/lib/belay', owner }),
        scratchFolder('tmp', { path: '/tmp', mb: half, owner }),
        scratchFolder('var-tmp', { path: '/var/tmp', mb: half, owner }),
        scratchFolder('run', { path: '/run', mb: 64, owner }),
        shared,
        ...keptFolders(spec.keptFiles, place, owner),
      ],
      services: [],
      layers: noLayers,
      beside,
      placed: spec.placedFiles.map(({ path }) => path),
      writtenMb,
      near: null,
      metadata: { [keys.files]: spec.files },
    },
    place,
  );
}

/** What a pod of programs has beside what its specification says. */
export interface ProgramPodParts {
  keptFiles?: readonly KeptFiles[];
  /** What its images are for nodes; those of the specification if undefined. */
  images?: PodImages;
  /** Whether its starter sends at its end what was written, and so unpacks layers itself. */
  sendsChanges?: boolean;
}

/**
 * The pod of programs of others, with their services. Its starter is root, so that programs, which have another user and
 * no rights, cannot touch it. Where layers are unpacked over the image, its files are those of this pod alone, so that a
 * program may change what is open to every user.
 */
export function programPod(
  spec: ProgramSpec,
  place: PodPlace,
  { keptFiles = [], images = plainImages(spec), sendsChanges = false }: ProgramPodParts = {},
): V1Pod {
  const { limits, workspace } = spec;
  const { layers } = images.first;
  const written = { [keys.written]: `${spec.writtenMb}` };
  return podOf(
    {
      spec: { ...spec, image: images.first.base },
      first: {
        command:
          layers && !sendsChanges
            ? unpackingCommand(layers, nodeProgram(nodeFlags, 'contained.cjs'), null)
            : firstProgram(nodeFlags, 'contained.cjs'),
        workingDir: '/',
        env: [
          ...connectionOf(place),
          ...(isSeparate(spec) ? [variable('BELAY_USER', `${spec.user}`)] : []),
          ...(sendsChanges ? [variable('BELAY_BUILD', buildOf(spec, images.first))] : []),
        ],
        securityContext: asRoot(
          capabilitiesOf(spec, layers !== null),
          spec.rights !== 'build' && layers === null,
        ),
        resources: resourcesOf(
          { ...limits, memoryMb: limits.memoryMb + starterMb },
          spec.writtenMb + (layers?.mb ?? 0),
        ),
      },
      folders: [
        ...spec.scratch.map((one, index) =>
          scratchFolder(`scratch-${index}`, { ...one, owner: spec.user }),
        ),
        ...(workspace ? [workspaceFolder(workspace, place)] : []),
        ...keptFolders(keptFiles, place, spec.user),
      ],
      services: spec.services.flatMap((one, index) => {
        const image = images.services[index];
        return image ? [podService({ ...one, ...image }, index, spec.writtenMb)] : [];
      }),
      layers: { count: images.layers.length, mb: layersMb(images) },
      beside: null,
      placed: [],
      writtenMb: spec.writtenMb,
      near: workspace?.files ?? null,
      metadata: written,
    },
    place,
  );
}

const buildOf = ({ writtenMb }: ProgramSpec, { layers }: PodImage): string => {
  const unpacked = layers ?? { places: [], mb: 0 };
  return JSON.stringify({ ...unpackingOf(unpacked), keptMb: writtenMb + unpacked.mb });
};

/** Root without rights could not become another user. */
const isSeparate = ({ rights, user: programUser }: ProgramSpec): boolean =>
  rights === 'build' || programUser !== 0;

function capabilitiesOf(spec: ProgramSpec, isUnpacking: boolean): string[] {
  if (spec.rights === 'build') return rootCapabilities;
  // Its programs would have them, too: they are the same user as its starter.
  if (!isSeparate(spec)) return [];
  return [...separationCapabilities, ...(isUnpacking ? unpackingCapabilities : [])];
}

/** A pod that runs a program of the runtime in an image, without a connection. */
export function imagePod(
  spec: { id: string; image: string; labels: Labels; command: readonly string[] },
  place: PodPlace,
): V1Pod {
  const { id, image, labels, command } = spec;
  return podOf(
    {
      spec: { id, label: 'image', labels, image },
      first: {
        command: [`${folderOfRuntime}/node`, ...command],
        workingDir: '/',
        env: [],
        securityContext: asRoot([], true),
        resources: resourcesOf({ memoryMb: 128, cpus: 1 }, 64),
      },
      folders: [],
      services: [],
      layers: noLayers,
      beside: null,
      placed: [],
      writtenMb: 64,
      near: null,
      metadata: {},
    },
    place,
  );
}
