import { agentUrl, type Limits } from '@belay/containers';
import { AppError, type PlaceCapacity } from '@belay/protocol';

export interface PodSettings {
  kubeconfig: string | undefined;
  namespace: string;
  /** Where pods reach this process. */
  agentUrl: string;
  image: string;
  allowedImages: readonly string[];
  runtimeImage: string;
  storageClass: string | undefined;
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
  const checked = agentUrl.safeParse(url);
  if (!checked.success)
    throw new AppError('invalid_input', `--agent-url: ${checked.error.issues[0]?.message ?? ''}.`);
  return {
    kubeconfig: kubeconfig || undefined,
    namespace: options.namespace ?? 'belay-sandboxes',
    agentUrl: url,
    image,
    allowedImages: allowImage,
    runtimeImage,
    storageClass: options.storageClass,
    podFiles: options.podFiles ?? false,
    allowUnconfined: options.allowUnconfined ?? false,
    limits: { memoryMb, cpus },
    capacity: { sandboxes, memoryMb: sandboxes * memoryMb, cpus: sandboxes * cpus },
  };
}
