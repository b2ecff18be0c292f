import {
  agentUrl,
  clusterClassName,
  defaultNamespace,
  podScheduling,
  type Limits,
  type PodScheduling,
} from '@belay/containers';
import { AppError, type PlaceCapacity } from '@belay/protocol';
import type { z } from 'zod';

export interface PodSettings {
  kubeconfig: string | undefined;
  namespace: string;
  /** Where pods reach this process. */
  agentUrl: string;
  image: string;
  allowedImages: readonly string[];
  runtimeImage: string;
  storageClass: string | undefined;
  scheduling: PodScheduling;
  podFiles: boolean;
  allowUnconfined: boolean;
  limits: Limits;
  capacity: PlaceCapacity;
}

export interface PodOptions {
  image?: string;
  allowImage?: string[];
  runtimeImage?: string;
  agentUrl?: string;
  namespace?: string;
  storageClass?: string;
  runtimeClass?: string;
  podScheduling?: string;
  podFiles?: boolean;
  allowUnconfined?: boolean;
  memory?: number;
  cpus?: number;
  maxSandboxes?: number;
}

/** The memory of nodes is not this machine’s, so it says nothing about how many there can be. */
const usualSandboxes = 20;

/** Throws one sentence for an option that is missing or wrong. */
export function podSettings(options: PodOptions, kubeconfig: string | undefined): PodSettings {
  const { image, runtimeImage, agentUrl: url, allowImage = [] } = options;
  const { memory: memoryMb = 2048, cpus = 2, maxSandboxes: sandboxes = usualSandboxes } = options;
  if (image === undefined || runtimeImage === undefined || url === undefined)
    throw new AppError(
      'invalid_input',
      '--kubernetes needs --image and --runtime-image, which its nodes can pull, and --agent-url wss://HOST:PORT.',
    );
  const { runtimeClass, podScheduling: scheduling } = options;
  return {
    kubeconfig: kubeconfig || undefined,
    namespace: options.namespace ?? defaultNamespace,
    agentUrl: checked('agent-url', agentUrl, url),
    image,
    allowedImages: allowImage,
    runtimeImage,
    storageClass: options.storageClass,
    scheduling: {
      ...checked('pod-scheduling', podScheduling.optional(), scheduling),
      runtimeClassName: checked('runtime-class', clusterClassName.optional(), runtimeClass),
    },
    podFiles: options.podFiles ?? false,
    allowUnconfined: options.allowUnconfined ?? false,
    limits: { memoryMb, cpus },
    capacity: {
      sandboxes,
      memoryMb: sandboxes * memoryMb,
      cpus: sandboxes * cpus,
      images: [image, ...allowImage],
    },
  };
}

function checked<T extends z.ZodType>(option: string, schema: T, value: unknown): z.output<T> {
  const { data, error } = schema.safeParse(value);
  const issue = error?.issues[0];
  if (issue)
    throw new AppError(
      'invalid_input',
      `${[`--${option}`, ...issue.path].join('.')}: ${issue.message}.`,
    );
  return data as z.output<T>;
}
