import {
  agentPortOf,
  agentUrl,
  clusterClassName,
  defaultNamespace,
  podScheduling,
  type PodScheduling,
} from '@belay/containers';
import { z } from 'zod';
import { blankIsUnset, text } from './variables.js';

const flag = z.preprocess(
  blankIsUnset,
  z
    .enum(['true', 'false'], { error: 'write true or false' })
    .default('false')
    .transform((text) => text === 'true'),
);

/** The settings of a server whose containers run in Kubernetes. */
export const kubernetesSettings = {
  BELAY_ENGINE: z.preprocess(blankIsUnset, z.enum(['docker', 'kubernetes']).default('docker')),
  BELAY_NAMESPACE: z.preprocess(blankIsUnset, z.string().default(defaultNamespace)),
  BELAY_RUNTIME_IMAGE: text,
  BELAY_AGENT_HOST: z.preprocess(blankIsUnset, z.string().default('0.0.0.0')),
  BELAY_AGENT_URL: z.preprocess(blankIsUnset, agentUrl.optional()),
  BELAY_FILES_MB: z.preprocess(blankIsUnset, z.coerce.number().int().min(1).default(10_240)),
  BELAY_STORAGE_CLASS: text,
  BELAY_RUNTIME_CLASS: z.preprocess(blankIsUnset, clusterClassName.optional()),
  BELAY_POD_SCHEDULING: z.preprocess(blankIsUnset, podScheduling.optional()),
  BELAY_AGENT_SANDBOX: flag,
  BELAY_FILES: z.preprocess(blankIsUnset, z.enum(['claims', 'pods']).default('claims')),
  BELAY_ALLOW_UNCONFINED: flag,
  KUBECONFIG: text,
};

/** A cluster in whose namespace the containers of this server run. */
export interface KubernetesConfig {
  /** The file with its address and credentials; undefined for the cluster that the server itself runs in. */
  readonly kubeconfig: string | undefined;
  readonly namespace: string;
  readonly runtimeImage: string;
  /** Where the server listens for agents alone, and how pods reach that. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly url: string;
  /** The size of a sandbox’s files. */
  readonly filesMb: number;
  readonly storageClass: string | undefined;
  readonly scheduling: PodScheduling;
  /** Where these files are. */
  readonly files: 'claims' | 'pods';
  /** Whether pods are made by the objects of kubernetes-sigs/agent-sandbox. */
  readonly agentSandbox: boolean;
  /** Whether pods may run that reach what they should not. */
  readonly allowUnconfined: boolean;
}

type Settings = z.output<z.ZodObject<typeof kubernetesSettings>>;

/** Undefined for a server with an engine of its own; the fault, in words without a period, for one that lacks a setting. */
export function kubernetesOf(set: Settings): KubernetesConfig | { fault: string } | undefined {
  if (set.BELAY_ENGINE !== 'kubernetes') return undefined;
  const { BELAY_RUNTIME_IMAGE: runtimeImage, BELAY_AGENT_URL: url } = set;
  if (runtimeImage === undefined || url === undefined)
    return {
      fault:
        'BELAY_ENGINE=kubernetes needs BELAY_RUNTIME_IMAGE and BELAY_AGENT_URL: see docs/kubernetes.md',
    };
  return {
    kubeconfig: set.KUBECONFIG,
    namespace: set.BELAY_NAMESPACE,
    runtimeImage,
    listen: { host: set.BELAY_AGENT_HOST, port: agentPortOf(url) },
    url,
    filesMb: set.BELAY_FILES_MB,
    storageClass: set.BELAY_STORAGE_CLASS,
    scheduling: { ...set.BELAY_POD_SCHEDULING, runtimeClassName: set.BELAY_RUNTIME_CLASS },
    files: set.BELAY_FILES,
    agentSandbox: set.BELAY_AGENT_SANDBOX,
    allowUnconfined: set.BELAY_ALLOW_UNCONFINED,
  };
}
