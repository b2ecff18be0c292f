import type { TaskFolder } from './reading.js';
import {
  isSeparate,
  stepsOf,
  template,
  type HarborConfig,
  type HarborEnvironment,
} from './harbor-config.js';
import { networkOf } from './harbor-network.js';
import { shownName } from './shown-name.js';

/**
 * Why a task with these services beside its agent cannot be run as intended, in one sentence; null when it can.
 */
export function harborRefusal(
  config: HarborConfig,
  files: TaskFolder['files'],
  services: string[],
): string | null {
  return (
    machineFault(config) ??
    servicesFault(config, files, services) ??
    stepsFault(config, files) ??
    variablesFault(config)
  );
}

const environmentsOf = ({ environment, verifier, steps }: HarborConfig): HarborEnvironment[] =>
  [environment, verifier.environment, ...steps.map((step) => step.verifier.environment)].filter(
    (given) => given !== undefined,
  );

function machineFault(config: HarborConfig): string | null {
  const all = environmentsOf(config);
  if (all.some(({ os }) => os.toLowerCase() !== 'linux'))
    return 'It needs an operating system other than Linux.';
  if (all.some(({ gpus, tpu }) => gpus > 0 || Boolean(tpu))) return 'It needs a GPU or a TPU.';
  return null;
}

function servicesFault(
  config: HarborConfig,
  files: TaskFolder['files'],
  services: string[],
): string | null {
  const servers = environmentsOf(config).flatMap(({ mcp_servers: all }) => all);
  if (servers.length > 0)
    return `It needs the MCP servers ${namesOf(servers.map(({ name }) => name))}, which are not started for tasks.`;
  const tests = verifierComposeFiles(config).find((path) => files.has(path));
  if (tests)
    return `Its ${tests} starts services beside a verifier with a container of its own, which is not done here.`;
  const collected = [
    ...config.artifacts,
    ...config.steps.flatMap(({ artifacts }) => artifacts),
    ...[config.verifier, ...config.steps.map(({ verifier }) => verifier)].flatMap(
      ({ collect }) => collect,
    ),
  ].find(({ service }) => service !== 'main' && !services.includes(service));
  return collected
    ? `It collects from the service ${shownName(collected.service)}, but it has no compose file that starts it.`
    : null;
}

/** Without a separate verifier, compose files of tests are only files. */
function verifierComposeFiles({ verifier: own, steps }: HarborConfig): string[] {
  const verified = [
    ...(isSeparate(own) ? ['tests'] : []),
    ...steps
      .filter(({ verifier: of }) => isSeparate(of) ?? isSeparate(own))
      .map(({ name }) => `steps/${name}/tests`),
  ];
  return verified.map((folder) => `${folder}/docker-compose.yaml`);
}

function stepsFault(config: HarborConfig, files: TaskFolder['files']): string | null {
  const { verifier: own, steps } = config;
  const modes = steps.map(({ verifier: of }) => isSeparate(of) ?? isSeparate(own) ?? false);
  if (new Set(modes).size > 1)
    return 'Some of its steps are verified in a separate container and others are not.';
  const settings = stepsOf(config).map(({ agent }) =>
    JSON.stringify([agent.user, networkOf(agent, config.environment)]),
  );
  if (new Set(settings).size > 1)
    return 'The agents of its steps have different users or networks, and one agent does all steps.';
  if (steps.length > 0 && files.has('pre_artifacts.sh'))
    return 'It has a pre_artifacts.sh, which belongs to tasks without steps.';
  const loaded = [...files.keys()].find((path) => /^(steps\/[^/]+\/)?trajectory\.json$/.test(path));
  return loaded ? `It begins with an earlier conversation (${loaded}), which is not loaded.` : null;
}

function variablesFault(config: HarborConfig): string | null {
  const missing = [
    config.solution.env,
    config.verifier.env,
    ...config.steps.map(({ verifier: of }) => of.env),
    ...environmentsOf(config).map(({ env }) => env),
  ]
    .flatMap((given) => Object.values(given))
    .map((value) => template.exec(value))
    .find((found) => found && found[2] === undefined);
  return missing ? `It needs ${missing[1]} from the host, which tasks do not get.` : null;
}

const namesOf = (names: string[]): string => names.slice(0, 8).map(shownName).join(', ');
