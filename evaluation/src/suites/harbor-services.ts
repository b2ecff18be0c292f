import { posix } from 'node:path';
import { Unsupported, type Service, type ServiceNeeds } from '../model.js';
import {
  readCompose,
  type ComposeFile,
  type ComposeService,
  type MainLimits,
} from './compose-file.js';
import { entriesBelow, fileText, type TaskFolder } from './reading.js';
import { shownName } from './shown-name.js';

/** What a compose file adds to a task. */
export interface TaskServices {
  /** In an order in which each follows what it needs. */
  services: Service[];
  /** What must be ready before the agent starts. */
  needs: ServiceNeeds;
  /** Variables of the agent's container. */
  env: Record<string, string>;
}

const folder = 'environment/';

/**
 * The services of a task; none without a compose file. Throws `Unsupported` for a file that asks for
 * something else than containers beside the agent's.
 */
export function harborServices(files: TaskFolder['files'], limits: MainLimits): TaskServices {
  const path = `${folder}docker-compose.yaml`;
  const text = fileText(files, path);
  if (text === undefined) return { services: [], needs: {}, env: {} };
  try {
    const compose = readCompose(text, limits);
    const { main, services } = compose;
    const [shared] = sharedVolumes(compose);
    if (shared !== undefined)
      throw new Unsupported(
        `Its services share the volume ${shownName(shared)}, which is not supported here.`,
      );
    const [hidden] = hiddenServices(compose);
    if (hidden !== undefined)
      throw new Unsupported(
        `The service ${hidden} is in no network of the agent’s container, but here all of them share one.`,
      );
    const all = Object.entries(services).map(([name, given]) => serviceOf(files, name, given));
    return {
      services: inOrder(all, main.depends_on),
      needs: main.depends_on,
      env: main.environment,
    };
  } catch (error) {
    if (!(error instanceof Unsupported)) throw error;
    throw new Unsupported(`Its ${path} cannot be used. ${error.message}`);
  }
}

function serviceOf(files: TaskFolder['files'], name: string, given: ComposeService): Service {
  const { deploy } = given;
  return {
    name,
    hosts: [
      name,
      ...Object.values(given.networks).flat(),
      ...[given.hostname, given.container_name].filter((each) => each !== undefined),
    ].map(hostName),
    image: imageOf(files, name, given),
    entrypoint: given.entrypoint,
    command: given.command,
    env: given.environment,
    user: given.user ?? null,
    workdir: given.working_dir ?? null,
    files: given.volumes.flatMap((volume) => volumeFiles(files, name, volume)),
    healthcheck: healthcheckOf(given),
    needs: given.depends_on,
    cpus: given.cpus ?? deploy?.cpus ?? 1,
    memoryMb: given.mem_limit ?? deploy?.memory ?? 2048,
  };
}

/** Written into files and command lines. */
function hostName(name: string): string {
  if (/^[\w.-]{1,128}$/.test(name)) return name;
  throw new Unsupported(`${shownName(name)} is not a host name.`);
}

function imageOf(
  files: TaskFolder['files'],
  name: string,
  { image, build }: ComposeService,
): Service['image'] {
  if (!build) {
    if (image) return { kind: 'image', name: image };
    throw new Unsupported(`The service ${name} has neither an image nor a build.`);
  }
  const { context, dockerfile, args } = build;
  const below = entriesBelow(files, insideFolder(name, `${context}/`));
  const recipe = posix.normalize(dockerfile);
  const found = below.find(({ path }) => path === recipe);
  if (!found)
    throw new Unsupported(
      `The service ${name} is built from ${shownName(recipe)}, which is missing.`,
    );
  return {
    kind: 'build',
    files: [...below.filter(({ path }) => path !== 'Dockerfile'), { ...found, path: 'Dockerfile' }],
    args,
    ...('target' in build && build.target && { target: build.target }),
    ...(image && { published: image }),
  };
}

/** A path of the task, given as one relative to the compose file. */
function insideFolder(name: string, path: string): string {
  const full = posix.join(folder, path);
  if (!/^[/~]/.test(path) && full.startsWith(folder)) return full;
  throw new Unsupported(`The service ${name} uses ${shownName(path)}, which is outside the task.`);
}

/** Copies, so that nothing of the data changes. A volume of one service is a folder of its container. */
function volumeFiles(
  files: TaskFolder['files'],
  name: string,
  { source, target }: ComposeService['volumes'][number],
) {
  if (source === null || isVolumeName(source)) return [];
  const from = insideFolder(name, source).replace(/\/$/, '');
  const file = files.get(from);
  const found =
    file && file.kind === 'file'
      ? [{ ...file, path: '' }]
      : entriesBelow(files, `${from}/`).map((entry) => ({ ...entry, path: `/${entry.path}` }));
  return found.map((entry) => ({ ...entry, path: `${posix.resolve('/', target)}${entry.path}` }));
}

function healthcheckOf({ healthcheck }: ComposeService): Service['healthcheck'] {
  if (!healthcheck) return null;
  const { test, disable, ...times } = healthcheck;
  return { ...times, test: disable ? ['NONE'] : (test ?? []) };
}

/** Each service after those that it needs. */
function inOrder(services: Service[], needs: ServiceNeeds): Service[] {
  const byName = new Map(services.map((service) => [service.name, service]));
  const ordered = new Set<Service>();
  const visit = (name: string, above: string[]): void => {
    const service = byName.get(name);
    if (!service)
      throw new Unsupported(`The service ${shownName(name)}, which others need, is missing.`);
    if (above.includes(name)) throw new Unsupported(`The service ${name} needs itself.`);
    for (const other of Object.keys(service.needs)) visit(other, [...above, name]);
    ordered.add(service);
  };
  for (const name of [...Object.keys(needs), ...byName.keys()]) visit(name, []);
  return [...ordered];
}

/** Named volumes that several services share, which containers without volumes cannot. */
function sharedVolumes({ services }: ComposeFile): string[] {
  const users = Object.values(services).flatMap(({ volumes }) => [
    ...new Set(volumes.flatMap(({ source }) => (source && isVolumeName(source) ? [source] : []))),
  ]);
  return users.filter((name, at) => users.indexOf(name) !== at);
}

/** Those that the agent must not reach directly. */
const hiddenServices = ({ main, services }: ComposeFile): string[] =>
  Object.keys(services).filter(
    (name) => !Object.keys(services[name]?.networks ?? {}).some((each) => each in main.networks),
  );

const isVolumeName = (source: string): boolean => /^\w[\w.-]*$/.test(source);
