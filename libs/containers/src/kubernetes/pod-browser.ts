import { createHash } from 'node:crypto';
import type { V1Pod } from '@kubernetes/client-node';
import { browserCommand } from '../browser-command.js';
import { scratchFolder, type Folder } from './pod-folders.js';
import {
  podRights,
  mountOf,
  resourcesOf,
  variable,
  type Beside,
  type BrowserBeside,
} from './pod-parts.js';

const container = 'browser';
/** Ports of loopback that programs rarely choose. */
const ports = { first: 40_000, count: 9_000 };
const pipe = '/run/browser/start';
/** What a browser writes outside of memory and files. */
const writtenMb = 64;

/** What the agent of such a pod is told: where it asks for the browser. */
export const browserVariable = variable('BELAY_BROWSER', pipe);

/** Where a browser waits to be started: in the agent’s container, nobody changes it. */
export const browserFolder = (owner: number): Folder => ({
  ...scratchFolder('browser', { path: '/run/browser', mb: 1, owner, readOnly: true }),
  mode: 0o755,
});

/**
 * A container that waits beside an agent, on its loopback, and starts Chromium once the agent asks for it. It has the
 * workspace, for downloads and uploads, and nothing else of the agent.
 */
export function browserBeside(
  { image, limits }: BrowserBeside,
  { id, owner, shared }: { id: string; owner: number; shared: readonly Folder[] },
): Beside {
  const port =
    ports.first + (createHash('sha256').update(id).digest().readUInt16BE() % ports.count);
  const half = Math.floor(limits.memoryMb / 2);
  const folders = [
    ...shared,
    browserFolder(owner),
    scratchFolder('browser-tmp', { path: '/tmp', mb: half, owner }),
  ];
  const made = {
    name: container,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: browserCommand(port, pipe),
    workingDir: '/workspace',
    env: [variable('HOME', '/tmp/home'), variable('PORT', `${port}`)],
    securityContext: { ...podRights([], true), runAsUser: owner, runAsGroup: owner },
    resources: resourcesOf(limits, writtenMb),
    volumeMounts: folders.map((one) => mountOf({ ...one, readOnly: false })),
  };
  return { container: made, folders };
}

/** The DevTools address of a pod’s browser; undefined for a pod without one, or whose browser has ended. */
export function browserAddress({ spec, status }: V1Pod): string | undefined {
  const found = spec?.containers.find(({ name }) => name === container);
  const port = found?.env?.find(({ name }) => name === 'PORT')?.value;
  const state = status?.containerStatuses?.find(({ name }) => name === container)?.state;
  return port === undefined || state?.terminated ? undefined : `http://127.0.0.1:${port}`;
}
