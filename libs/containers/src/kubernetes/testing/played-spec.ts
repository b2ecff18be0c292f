import type { ContainerSpec } from '../../container-host.js';

/** A sandbox with nothing of its own. */
export const playedSpec: ContainerSpec = {
  id: '0123456789ab',
  label: 'session',
  labels: {},
  image: 'sandbox:1',
  rights: 'hardened',
  limits: { memoryMb: 256, cpus: 1 },
  env: {},
  files: 'files',
  folders: [],
  keptFiles: [],
  placedFiles: [],
};
