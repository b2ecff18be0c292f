import { Injectable } from '@nestjs/common';
import {
  AppError,
  gatewayPort,
  ownAgent,
  type AgentProgram,
  type AgentProtocol,
  type EgressPolicy,
  type newSessionAgent,
  type SessionAgent,
  type SessionMachine,
  type SessionSettings,
} from '@belay/protocol';
import type { z } from 'zod';
import { Config } from '../config.js';
import { randomSecret } from '../storage/secrets.js';
import type { AgentEntry, AgentStart, AgentWithTranscripts, CLibrary } from './agent-entry.js';
import type { Architecture } from './agent-lock.js';
import { assertSameProvider, bareName, formatFor } from './agent-models.js';
import { agentFolder } from './agent-volumes.js';
import { AgentStore, noSuchAgent } from './agent.store.js';
import { customEntry } from './custom-entry.js';
import { ImageLibraries } from './image-libraries.js';
import { InstallableAgents } from './installable-agents.js';
import { signInInUse, SignInStore } from './sign-in.store.js';

/** What a sandbox needs besides its image, so that an agent runs in it. */
export interface AgentMounts {
  /** The read-only volume with its packages; null if its program is in the image. */
  volume: { name: string; target: string } | null;
  /** Files to mount read-only. */
  policy: AgentEntry['policy'];
  /** The volume with the home of a user’s own sign-in. */
  login?: { name: string; target: string };
}

/** Where a session’s agent comes from and what it works with. */
interface AgentPlace {
  model: string;
  machine: SessionMachine | null;
  /** Whose sign-in the agent would use. */
  user: string;
}

/** The agents of sessions: which one a session gets, and what its sandbox and its agent process need for it. */
@Injectable()
export class SessionAgents {
  constructor(
    private readonly config: Config,
    private readonly store: AgentStore,
    private readonly installable: InstallableAgents,
    private readonly libraries: ImageLibraries,
    private readonly signIns: SignInStore,
  ) {}

  /**
   * The agent of a new session; undefined is Belay's own. Throws one sentence when there is no such agent, it is not
   * installed, or it cannot work with the session's model or on its machine.
   */
  choose(
    wanted: z.output<typeof newSessionAgent> | undefined,
    { model, machine, user }: AgentPlace,
  ): SessionAgent | undefined {
    if (!wanted || wanted.name === ownAgent) return undefined;
    const { name, small, login } = wanted;
    const entry = this.entry(name);
    if (!entry) throw noSuchAgent(name);
    const installed = this.store.current(name);
    if (!installed && !this.#isCustom(name)) throw notInstalled(entry);
    const protocol = protocolFor(wanted, entry);
    if (machine) throw onlyInSandboxes(entry, machine);
    const version = installed?.version ?? '';
    if (login) {
      assertHasLogin(entry, protocol);
      return { name, version, protocol, login: user };
    }
    formatFor(entry, model);
    if (small !== undefined) assertSameProvider(model, small);
    return { name, version, protocol, ...(small !== undefined && { small }) };
  }

  /** The agents whose conversations can be moved. */
  get withTranscripts(): AgentWithTranscripts[] {
    return this.installable.all.flatMap(({ entry }) =>
      entry.transcripts ? { ...entry, transcripts: entry.transcripts } : [],
    );
  }

  /** The network of a session: its own, and the vendor’s hosts if its user signs in to the agent. */
  egressFor(agent: SessionAgent | undefined, { profile, hosts }: EgressPolicy): EgressPolicy {
    const more = agent?.login === undefined ? [] : (this.#entryOf(agent).login?.hosts ?? []);
    if (more.length === 0) return { profile, hosts };
    const own = profile === 'none' ? [] : hosts.filter((host) => !more.includes(host));
    return { profile: profile === 'none' ? 'list' : profile, hosts: [...own, ...more] };
  }

  /** What is left of a session’s network for one without the agent’s sign-in. */
  egressWithout(agent: SessionAgent | undefined, { profile, hosts }: EgressPolicy): EgressPolicy {
    const more = agent?.login === undefined ? [] : (this.entry(agent.name)?.login?.hosts ?? []);
    return { profile, hosts: hosts.filter((host) => !more.includes(host)) };
  }

  /** Throws `invalid_input` with one sentence if the agent of a session cannot work with this model. */
  assertCanCall(agent: SessionAgent | undefined, model: string): void {
    if (!agent || agent.protocol === 'own') return;
    if (agent.login !== undefined)
      throw new AppError(
        'invalid_input',
        `${this.#entryOf(agent).title} uses your own sign-in: choose its model in its terminal.`,
      );
    formatFor(this.#entryOf(agent), model);
    if (agent.small !== undefined) assertSameProvider(model, agent.small);
  }

  /** The entry of an agent, as a session names it. */
  entry(name: string): AgentEntry | undefined {
    const custom = this.store.custom.find((one) => one.name === name);
    return custom ? customEntry(custom) : this.installable.known(name)?.entry;
  }

  /**
   * What the sandbox of a session needs; undefined for Belay's own agent. Throws `conflict` when the agent was removed or
   * the session does not have the sign-in, and `unavailable` when no program of it runs in the image.
   */
  async mounts({
    agent,
    image,
    session,
  }: Pick<SessionSettings, 'agent' | 'image'> & { session: string | null }): Promise<
    AgentMounts | undefined
  > {
    if (!agent) return undefined;
    const entry = this.#entryOf(agent);
    if (this.#isCustom(agent.name)) return { volume: null, policy: entry.policy };
    const installed = this.store.versionNamed(agent.name, agent.version);
    if (!installed) throw notInstalled(entry, agent.version);
    const library = await this.#libraryOf(image);
    const volume = installed.volumes.find(({ libraries }) => libraries.includes(library));
    if (!volume)
      throw new AppError(
        'unavailable',
        `${image ?? this.config.image} has no C library that ${entry.title} runs on: choose another image, or an agent in JavaScript.`,
      );
    const packages = { name: volume.name, target: agentFolder(agent.name) };
    if (agent.login === undefined) return { volume: packages, policy: entry.policy };
    const signIn = session === null ? undefined : this.signIns.ofSession(session);
    // The settings alone give nothing away: the session must also have been given this user’s sign-in to this agent.
    if (signIn?.user !== agent.login || signIn.agent !== agent.name) throw signInInUse(agent.name);
    return {
      volume: packages,
      policy: entry.login?.policy ?? [],
      login: { name: signIn.volume, target: loginHome },
    };
  }

  /**
   * What the agent process needs to start the agent; undefined for Belay's own. Each agent process has a token of its
   * own.
   */
  async program(
    settings: SessionSettings,
    token = randomSecret(),
  ): Promise<AgentProgram | undefined> {
    const { agent } = settings;
    if (!agent || agent.protocol === 'own') return undefined;
    const { protocol } = agent;
    const entry = this.#entryOf(agent);
    const login = agent.login === undefined ? null : entry.login;
    const format = login ? (entry.formats[0] ?? 'chat') : formatFor(entry, settings.model);
    const home = login ? loginHome : `/var/lib/belay/home/.belay/${agent.name}`;
    const start: Omit<AgentStart, 'trusted'> = {
      node: '/opt/belay/node',
      root: agentFolder(agent.name),
      arch: process.arch as Architecture,
      clib: await this.#libraryOf(settings.image),
      home,
      gateway: `http://127.0.0.1:${gatewayPort}`,
      token,
      format,
      model: bareName(settings.model),
      small: bareName(agent.small ?? settings.model),
      task: settings.task,
    };
    const launch = (trusted: boolean): AgentProgram['launches']['trusted'] => {
      const given = { ...start, trusted };
      const command = (one: AgentStart) => [
        ...(login?.command(one) ?? entry.command(one, protocol)),
      ];
      return {
        command: command(given),
        ...(protocol === 'terminal' && { again: command({ ...given, task: null }) }),
        env: { ...loopbackIsDirect, ...(login ?? entry).env(given) },
        // Its user’s own settings are in that home.
        files: login ? [] : [...entry.files(given)],
        newSession: entry.newSession(trusted),
      };
    };
    return {
      name: agent.name,
      title: entry.title,
      protocol,
      formats: [format],
      token,
      home,
      project: [...entry.project],
      ignoresDistrust: [...(entry.ignoresDistrust ?? [])],
      launches: { untrusted: launch(false), trusted: launch(true) },
      resume: entry.resume,
      authenticate: entry.authenticate,
      ...(login && { login: true }),
    };
  }

  #libraryOf(image: string | null): Promise<CLibrary> {
    return this.libraries.of(image ?? this.config.image);
  }

  #isCustom(name: string): boolean {
    return this.store.custom.some((one) => one.name === name);
  }

  #entryOf({ name }: SessionAgent): AgentEntry {
    const entry = this.entry(name);
    if (!entry) throw noSuchAgent(name);
    return entry;
  }
}

/** Where a sandbox has the home of a user’s own sign-in. */
const loginHome = '/var/lib/belay/login';

/** The wanted protocol, or else the best. Throws `invalid_input` if the agent does not speak it. */
function protocolFor(
  { protocol: wanted, login }: z.output<typeof newSessionAgent>,
  { title, protocols }: AgentEntry,
): AgentProtocol {
  const best = login ? 'terminal' : protocols[0];
  const protocol = wanted ?? best ?? 'terminal';
  if (protocols.includes(protocol)) return protocol;
  throw new AppError(
    'invalid_input',
    `${title} cannot be driven by ${protocol}. Leave out the protocol, or choose ${protocols.join(' or ')}.`,
  );
}

function assertHasLogin({ title, login }: AgentEntry, protocol: AgentProtocol): void {
  if (!login)
    throw new AppError(
      'invalid_input',
      `${title} has no sign-in that Belay knows: leave out \`login\`.`,
    );
  if (protocol !== 'terminal')
    throw new AppError(
      'invalid_input',
      `You sign in to ${title} in its terminal: leave out the protocol, or choose \`terminal\`.`,
    );
}

/** Otherwise, HTTP clients send even calls to the gateway through the sandbox’s proxy. */
const direct = 'localhost,127.0.0.1,::1';
const loopbackIsDirect = { NO_PROXY: direct, no_proxy: direct };

const onlyInSandboxes = ({ title }: AgentEntry, { kind }: SessionMachine): AppError =>
  new AppError(
    'invalid_input',
    kind === 'bare'
      ? `${title} runs in sandboxes, not on a bare machine: leave out the machine.`
      : `${title} runs in sandboxes of the server: leave out the machine.`,
  );

const notInstalled = ({ title, name }: AgentEntry, version?: string): AppError =>
  new AppError(
    'conflict',
    version === undefined
      ? `${title} is not installed on this server: \`belay agents install ${name}\`, or Settings → Agents.`
      : `${title} ${version} was removed from this server, and the session needs it. Start a new session with another version.`,
  );
