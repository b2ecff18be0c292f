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
import {
  asRoot,
  connectionOf,
  podOf,
  resourcesOf,
  folderOfRuntime,
  variable,
  type PodPlace,
} from './pod-parts.js';

/** What a sandbox may write outside of its files and its memory. */
const sandboxWrittenMb = 10_240;
/** The memory that the starter needs in its container. */
const starterMb = 64;
const firstProgram = (flags: readonly string[], file: string): string[] => [
  `${folderOfRuntime}/init`,
  '--',
  `${folderOfRuntime}/node`,
  ...flags,
  `${folderOfRuntime}/${file}`,
];

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
      beside,
      placed: spec.placedFiles.map(({ path }) => path),
      writtenMb,
      near: null,
      metadata: { [keys.files]: spec.files },
    },
    place,
  );
}

/**
 * The pod of programs of others, with their services. Its starter is root, so that programs, which have another user and
 * no rights, cannot touch it.
 */
export function programPod(
  spec: ProgramSpec,
  place: PodPlace,
  keptFiles: readonly KeptFiles[] = [],
): V1Pod {
  const { rights, limits, workspace } = spec;
  const isBuild = rights === 'build';
  // Root without rights could not become another user.
  const isSeparate = isBuild || spec.user !== 0;
  const capabilities = isBuild ? rootCapabilities : separationCapabilities;
  const written = { [keys.written]: `${spec.writtenMb}` };
  return podOf(
    {
      spec,
      first: {
        command: firstProgram(nodeFlags, 'contained.cjs'),
        workingDir: '/',
        env: [
          ...connectionOf(place),
          ...(isSeparate ? [variable('BELAY_USER', `${spec.user}`)] : []),
        ],
        securityContext: asRoot(isSeparate ? capabilities : [], !isBuild),
        resources: resourcesOf(
          { ...limits, memoryMb: limits.memoryMb + starterMb },
          spec.writtenMb,
        ),
      },
      folders: [
        ...spec.scratch.map((one, index) =>
          scratchFolder(`scratch-${index}`, { ...one, owner: spec.user }),
        ),
        ...(workspace ? [workspaceFolder(workspace, place)] : []),
        ...keptFolders(keptFiles, place, spec.user),
      ],
      services: spec.services,
      beside: null,
      placed: [],
      writtenMb: spec.writtenMb,
      near: workspace?.files ?? null,
      metadata: written,
    },
    place,
  );
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
      beside: null,
      placed: [],
      writtenMb: 64,
      near: null,
      metadata: {},
    },
    place,
  );
}
