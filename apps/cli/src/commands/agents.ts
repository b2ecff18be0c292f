import { setTimeout as delay } from 'node:timers/promises';
import {
  AppError,
  bytesText,
  pluralText,
  type AgentChoice,
  type AgentProtocol,
} from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { confirmed } from '../confirmed.js';
import { clientFor, type PrintOptions } from '../connection.js';
import { outputTo, printResult, progressBar } from '../output.js';
import { printList } from '../print-list.js';
import { StatusLine } from '../status-line.js';

/** Between two looks at the progress of an install. */
const progressEveryMs = 300;

/** `belay agents list`. */
export async function listAgents(options: PrintOptions): Promise<void> {
  printList(await clientFor(options).agents.list(), options, {
    empty: 'There are no agents.',
    row: (agent) => [agent.name, stateOf(agent), licenceOf(agent), aboutOf(agent)],
  });
}

/** `belay agents install`: one after another. Returns the exit code. */
export async function installAgents(
  names: readonly string[],
  options: PrintOptions & { accept?: boolean },
): Promise<number> {
  const client = clientFor(options);
  const known = await client.agents.list();
  const wanted = names.map((name) => installable(known, name));
  const progress = outputTo(process.stderr);
  for (const { title, licence, newest } of wanted)
    progress.line(`${title} ${newest ?? ''} · licence: ${licenceText(licence)}`);
  return installAll(client, wanted, options);
}

/** `belay agents update`: those with another version in this Belay. Returns the exit code. */
export async function updateAgents(
  names: readonly string[],
  { version: wanted, yes = false, ...options }: PrintOptions & { version?: string; yes?: boolean },
): Promise<number> {
  const client = clientFor(options);
  const known = await client.agents.list();
  const present = known.filter(({ version }) => version !== null);
  const asked = names.length > 0 ? names.map((name) => updatable(known, name)) : present;
  if (wanted !== undefined) {
    const [agent, ...more] = asked;
    if (names.length !== 1 || !agent || more.length > 0)
      throw new AppError('invalid_input', '--version is for one agent. Name it.');
    return updateTo(client, agent, { ...options, wanted, yes });
  }
  if (asked.length === 0) {
    printResult(options, [], 'No agents are installed. List them with: belay agents list');
    return 0;
  }
  const old = asked.filter(({ version, newest }) => version !== newest);
  if (old.length === 0) {
    const all = names.length > 0 ? 'These agents' : 'All installed agents';
    printResult(options, [], `${all} are up to date.`);
    return 0;
  }
  // Their licences were accepted with the first install.
  return installAll(client, old, { ...options, accept: true });
}

/** Installs a version that Belay has no lock for, once the user has confirmed what the registry has. */
async function updateTo(
  client: BelayClient,
  agent: AgentChoice,
  { wanted, yes, ...options }: PrintOptions & { wanted: string; yes: boolean },
): Promise<number> {
  const { version, packages } = await client.agents.version(agent.name, wanted);
  const shown = outputTo(process.stderr);
  shown.line(
    `${agent.title} ${version} was not checked for this version of Belay, which has a lock for ${agent.newest}. Your npm registry has:`,
  );
  for (const one of packages) shown.line(`  ${one.name} ${one.version}  ${one.integrity}`);
  const withoutTerminal = 'Nothing was installed. Use --yes to install these packages.';
  if (!yes && !(await confirmed(`Install ${agent.title} ${version}?`, withoutTerminal))) {
    shown.line('Nothing was installed.');
    return 1;
  }
  const other = { version, integrity: packages.map(({ integrity }) => integrity) };
  return installAll(client, [agent], { ...options, accept: true, other });
}

/** `belay agents add`. */
export async function addAgent(
  name: string,
  command: string[],
  options: PrintOptions & { title?: string; env?: string[]; protocol: AgentProtocol },
): Promise<void> {
  const { title, env: given = [], protocol } = options;
  const env = Object.fromEntries(given.map(variableIn));
  const agent = await clientFor(options).agents.saveCustom(name, {
    title,
    command,
    env,
    protocol,
  });
  printResult(
    options,
    agent,
    `Added ${agent.title}. Use it with: belay run "TASK" --agent ${name}`,
  );
}

/** `belay agents remove`. */
export async function removeAgent(name: string, options: PrintOptions): Promise<void> {
  const client = clientFor(options);
  const agent = (await client.agents.list()).find((one) => one.name === name);
  await client.agents.remove(name);
  const sessions = agent?.kind === 'installable' ? agent.sessions : 0;
  printResult(
    options,
    { removed: name },
    sessions > 0
      ? `Removed ${name} for new sessions. Its files stay until the last of ${pluralText(sessions, 'session')} with it is deleted.`
      : `Removed ${name}.`,
  );
}

/** `belay agents logout`. */
export async function logoutOfAgent(name: string, options: PrintOptions): Promise<void> {
  await clientFor(options).agents.logout(name);
  printResult(options, { loggedOut: name }, `Removed your sign-in to ${name}.`);
}

interface InstallOptions {
  accept?: boolean;
  /** The confirmed version in place of the locked one. */
  other?: { version: string; integrity: string[] };
}

async function installAll(
  client: BelayClient,
  agents: readonly AgentChoice[],
  { accept = false, other, json }: PrintOptions & InstallOptions,
): Promise<number> {
  const ended: AgentChoice[] = [];
  for (const { name } of agents) {
    await client.agents.install(name, { accept, ...(other && { other }) });
    ended.push(await installed(client, name));
  }
  const output = outputTo(process.stdout);
  if (json) output.json(ended);
  else
    for (const { title, version, error } of ended)
      output.line(
        error === null
          ? `Installed ${title} ${version}.`
          : output.style('red', `${title}: ${error}`),
      );
  return ended.some(({ error }) => error !== null) ? 1 : 0;
}

/** Shows the download until the install has ended. */
async function installed(client: BelayClient, name: string): Promise<AgentChoice> {
  const status = process.stderr.isTTY ? new StatusLine(process.stderr) : undefined;
  const since = Date.now();
  try {
    for (;;) {
      const agent = installable(await client.agents.list(), name);
      if (agent.state !== 'installing') return agent;
      const { done, total } = agent.bytes;
      const share = total > 0 ? done / total : 0;
      status?.show(
        share < 1
          ? `${agent.title}  ${progressBar(share)}  ${bytesText(done)} of ${bytesText(total)}`
          : `${agent.title}  unpacking …`,
        since,
      );
      await delay(progressEveryMs);
    }
  } finally {
    status?.close();
  }
}

/** Throws `not_found` with the names that exist. */
function installable(known: readonly AgentChoice[], name: string): AgentChoice {
  const all = known.filter(({ kind }) => kind === 'installable');
  const found = all.find((one) => one.name === name);
  if (found) return found;
  const names = all.map((one) => one.name).join(', ');
  throw new AppError('not_found', `There is no agent ${name} to install. Choose from: ${names}.`);
}

/** Throws `not_found` as `installable` does, and `conflict` for one that is not installed. */
function updatable(known: readonly AgentChoice[], name: string): AgentChoice {
  const found = installable(known, name);
  if (found.version !== null) return found;
  throw new AppError(
    'conflict',
    `${found.title} is not installed. Install it with: belay agents install ${name}`,
  );
}

function stateOf({ kind, state, version, newest, error }: AgentChoice): string {
  if (kind === 'custom') return 'own entry';
  if (state === 'installing') return 'installing';
  if (error !== null) return 'failed';
  if (version === null) return 'not installed';
  return version === newest ? version : `${version} (${newest} available)`;
}

const aboutOf = ({ about, login }: AgentChoice): string =>
  login === 'kept' ? `${about} You are signed in.` : about;

const licenceOf = ({ licence }: AgentChoice): string =>
  licence === null ? '' : (licence.spdx ?? 'proprietary');

const licenceText = (licence: AgentChoice['licence']): string =>
  licence === null ? 'unknown' : `${licence.spdx ?? 'proprietary'}, ${licence.url}`;

function variableIn(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new AppError('invalid_input', `--env ${text}: write NAME=VALUE.`);
  return [text.slice(0, at), text.slice(at + 1)];
}
