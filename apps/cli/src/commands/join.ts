import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join as joinPath, resolve } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { allowedImages, AppError, errorFrom, pluralText } from '@belay/protocol';
import { BackgroundServer } from '../background/background-server.js';
import { AgentProcesses } from '../join/agent-processes.js';
import { prepareContainers, type ContainerSettings } from '../join/container-settings.js';
import { checkedUrl, joinedAs, joinedFolder, type Joined } from '../join/joined.js';
import type { PodOptions, PodSettings } from '../join/pod-settings.js';
import { serveMachine } from '../join/serve-machine.js';
import { outputTo, type LineOutput } from '../output.js';

export interface JoinOptions extends PodOptions {
  token?: string;
  ca?: string;
  container?: boolean;
  kubernetes?: boolean;
}

/** `belay join`: this machine runs agents of a server, until Ctrl-C. */
export async function joinServer(address: string, options: JoinOptions): Promise<void> {
  const output = outputTo(process.stderr);
  const url = checkedUrl(address);
  if (options.ca !== undefined) trust(options.ca);
  const folder = joinedFolder(url);
  const kind = options.container || options.kubernetes ? 'container' : 'bare';
  assertOptionsFit(options);
  const token = options.token ?? process.env.BELAY_JOIN_TOKEN;
  const join = () => joinedAs(url, folder, { token, kind }).catch(refusalHere);
  const known = token === undefined ? await join() : undefined;
  // Before the one-time token is used, because this may take minutes or fail.
  const containers = options.container
    ? await prepareContainers({ ...options, allowedImages: options.allowImage })
    : undefined;
  const pods = options.kubernetes ? await settingsOfPods(options) : undefined;
  const joined = known ?? (await join());
  const self = new BackgroundServer({ data: folder });
  const other = self.running();
  if (other)
    throw new AppError('conflict', `This machine has already joined, by process ${other.pid}.`);
  self.remember(process.pid);
  try {
    const serving = async (): Promise<void> => {
      if (containers) return serveContained({ ...containers, folder, joined }, output);
      if (pods) return serveInPods({ ...pods, folder, joined }, output);
      output.line(output.style('yellow', nothingConfined(url)));
      await serveMachine({
        joined,
        output,
        capacity: undefined,
        openAgents: async (news) =>
          new AgentProcesses({ ...news, folder, command: () => bareAgent(url, options) }),
      });
    };
    await serving().catch(refusalHere);
  } finally {
    self.forget();
  }
}

const nothingConfined = (url: URL): string =>
  `⚠ Nothing is confined: agents of ${url.origin} run commands on this machine with all permissions of ${userName()}, on its files and its network.`;

const containedBy = (
  {
    image,
    allowedImages: others,
    limits,
    capacity,
  }: Pick<PodSettings, 'allowedImages' | 'capacity' | 'image' | 'limits'>,
  what: string,
): string =>
  `Up to ${pluralText(capacity.sandboxes, 'agent')} at a time. Each agent runs in a ${what} of its own, with the image ${image}${allowed(others)}: no files of this machine, no network except through the server, ${limits.memoryMb} MB of memory and ${limits.cpus} CPUs.`;

const allowed = (images: readonly string[]): string =>
  images.length === 0 ? '' : ` unless its session names another of ${images.join(', ')}`;

/** The clients of Docker and Kubernetes are loaded only when they are needed. */
async function settingsOfPods(options: PodOptions): Promise<PodSettings> {
  const { podSettings } = await import('../join/pod-settings.js');
  return podSettings(options, process.env.KUBECONFIG);
}

async function serveContained(
  settings: ContainerSettings & { folder: string; joined: Joined },
  output: LineOutput,
): Promise<void> {
  output.line(containedBy(settings, 'container'));
  const { serveContainers } = await import('../join/serve-containers.js');
  await serveMachine({
    joined: settings.joined,
    output,
    capacity: settings.capacity,
    openAgents: (news) => serveContainers({ ...settings, ...news }),
  });
}

async function serveInPods(
  settings: PodSettings & { folder: string; joined: Joined },
  output: LineOutput,
): Promise<void> {
  output.line(containedBy(settings, `pod of the namespace ${settings.namespace}`));
  const { servePods } = await import('../join/serve-pods.js');
  const warn = (sentence: string) => output.line(output.style('yellow', `⚠ ${sentence}`));
  await serveMachine({
    joined: settings.joined,
    output,
    capacity: settings.capacity,
    openAgents: (news) => servePods({ ...settings, ...news, warn }),
  });
}

function assertOptionsFit(options: JoinOptions): void {
  const { container, kubernetes, image, allowImage, memory, cpus, maxSandboxes } = options;
  if (container && kubernetes)
    throw new AppError('invalid_input', 'Agents run in containers or in pods: leave one out.');
  const { runtimeImage, agentUrl, namespace, storageClass, podFiles, allowUnconfined } = options;
  const { runtimeClass, podScheduling } = options;
  const inBoth = { image, 'allow-image': allowImage, memory, cpus, 'max-sandboxes': maxSandboxes };
  const inPods = {
    'runtime-image': runtimeImage,
    'agent-url': agentUrl,
    namespace,
    'storage-class': storageClass,
    'runtime-class': runtimeClass,
    'pod-scheduling': podScheduling,
    'pod-files': podFiles,
    'allow-unconfined': allowUnconfined,
  };
  const given = (of: object) => Object.entries(of).find(([, value]) => value !== undefined)?.[0];
  const [name, kinds] =
    !container && !kubernetes && given(inBoth) !== undefined
      ? [given(inBoth), 'agents in containers: add --container or --kubernetes']
      : kubernetes
        ? []
        : [given(inPods), 'agents in pods: add --kubernetes'];
  if (name !== undefined) throw new AppError('invalid_input', `--${name} is for ${kinds}.`);
  const { error } = allowedImages.safeParse([
    ...(image === undefined ? [] : [image]),
    ...(allowImage ?? []),
  ]);
  const [issue] = error?.issues ?? [];
  if (issue) throw new AppError('invalid_input', `--image and --allow-image: ${issue.message}.`);
}

/** The refused token is the machine’s, not the user’s. */
function refusalHere(error: unknown): never {
  const { code, message } = errorFrom(error);
  if (code === 'unauthorized') throw new AppError('forbidden', message);
  throw error;
}

/** The same program as in a sandbox. */
function bareAgent(url: URL, { ca }: JoinOptions) {
  // The bundle is as deep as this file.
  const program = joinPath(__dirname, '../../../agent/dist/bundle/agent.cjs');
  if (!existsSync(program))
    throw new AppError('unavailable', 'This installation of belay has no agent. Install it again.');
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('BELAY_'));
  const env = {
    ...Object.fromEntries(own),
    BELAY_CONNECTION: url.origin.replace(/^http/, 'ws'),
    BELAY_BARE: '1',
    ...(ca !== undefined && { NODE_EXTRA_CA_CERTS: resolve(ca) }),
  };
  return { file: process.execPath, args: ['--disable-sigusr1', program], env };
}

/** Trusts a certificate in addition to Node’s. */
function trust(file: string): void {
  try {
    setDefaultCACertificates([...getCACertificates('default'), readFileSync(file, 'utf8')]);
  } catch (error) {
    const { message } = error as Error;
    throw new AppError('invalid_input', `${file} is not a certificate: ${message}`);
  }
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'this user';
  }
}
