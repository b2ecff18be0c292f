import type { BelayClient } from '@belay/client';
import {
  budgets as allBudgets,
  isEnded,
  isEvent,
  needsUser,
  sentWorkspace,
  type EgressPolicy,
  type Event,
  type PlaceLabels,
  type SessionState,
} from '@belay/protocol';
import { createTask, readFiles } from '../engine/task-files.js';
import { noArtifacts, type Artifacts } from '../artifacts.js';
import { readArchive, packArchive, type Entry } from '../entries.js';
import type { Step } from '../model.js';
import { trajectoryOf } from '../results/trajectory.js';
import { secondTry } from '../suites/polyglot.js';
import {
  startingFiles,
  workdirOf,
  type Agent,
  type TrialContext,
  type TrialUsage,
  type AgentInstance,
} from './agent.js';
import { patchOf } from './repository.js';
import { assertSameMachine, endBeside, startBeside } from './services-of-session.js';
import { sessionImage } from './session-image.js';
import { workArtifacts } from './work-artifacts.js';

export interface ModelAgentOptions {
  client: BelayClient;
  /** The server's address. */
  url: string;
  /** In the form `provider:model`. */
  model: string;
  /** An agent that is installed on the server; Belay's own if omitted. */
  agent?: string;
  budgets?: { steps?: number; tokens?: number; dollars?: number };
  /** Of the places where its sessions may run; without any, the server’s own. */
  labels?: PlaceLabels;
}

/**
 * An agent of a Belay server, its own unless another is named: each trial is a session on the server with the task's image, and with the
 * task's working folder as its workspace. The dashboard shows it like any other session.
 */
export function modelAgent(options: ModelAgentOptions): Agent {
  return {
    name: options.agent === undefined ? 'model' : `agent:${options.agent}`,
    model: options.model,
    setup: async (context) => new SessionAgent(context, options),
  };
}

/** The platform mounts the workspace here, whatever the image's working folder is. */
const workspace = '/workspace';
const pollMs = 500;

class SessionAgent implements AgentInstance {
  #id: string | null = null;
  #initial: Entry[] = [];
  /** The `seq` of the last event that was read. */
  #seen = 0;

  constructor(
    private readonly context: TrialContext,
    private readonly options: ModelAgentOptions,
  ) {}

  async run(step: Step, feedback: string | null): Promise<Artifacts> {
    const { client } = this.options;
    const id =
      this.#id === null ? await this.#create(step) : await this.#continue(this.#id, step, feedback);
    const timedOut = await this.#ended(id, step.limits.agent, this.context.signal);
    const { state, reason, modelError } = await client.sessions.get(id);
    // A failure of a provider or a sandbox is not the model’s fault.
    const isBroken = state === 'failed' || Boolean(modelError);
    const broken = isBroken ? (reason ?? 'The session failed.') : null;
    const artifacts = await this.#collect(id, step);
    if (this.context.services) await endBeside(this.context, { client, id });
    const note = [reason ?? state, artifacts.note].filter(Boolean).join('\n');
    return { ...artifacts, timedOut, note, broken };
  }

  usage(): TrialUsage {
    return this.#usage;
  }
  #usage: TrialUsage = { session: null, tokens: 0, dollars: 0 };

  /**
   * Archives the session, so that the fleet shows only running ones; its replay is the trial’s
   * record.
   */
  async stop(): Promise<void> {
    if (!this.#id) return;
    const { client } = this.options;
    const { state, tokens, dollars, machine } = await client.sessions.get(this.#id);
    if (!isEnded(state)) await client.sessions.stop(this.#id);
    await client.sessions.change(this.#id, { archived: true });
    const sessionPlace = machine?.name ?? 'the server';
    this.#usage = { session: this.#id, sessionPlace, tokens, dollars };
  }

  async trajectory(): Promise<object | null> {
    if (!this.#id) return null;
    const { client, model } = this.options;
    const events: Event[] = [];
    for (;;) {
      const page = await client.sessions.events(this.#id, { after: events.at(-1)?.seq ?? 0 });
      if (page.length === 0) return trajectoryOf(this.#id, model, events);
      events.push(...page);
    }
  }

  async #create(step: Step): Promise<string> {
    const { task, attempt } = this.context;
    const { client, url, model, agent, budgets, labels } = this.options;
    const { services } = this.context;
    if (services) assertSameMachine(url);
    this.#initial = await this.#workspace(step);
    const archive = new Uint8Array(await packArchive(this.#initial));
    const session = await client.sessions.create({
      task: this.#message(step, null),
      title: `${task.id} · ${attempt}`.slice(0, 200),
      model,
      ...(agent !== undefined && { agent: { name: agent } }),
      image: await sessionImage(this.context),
      workspace: services ? sentWorkspace : (await client.uploads.workspace(archive)).workspace,
      approvals: 'auto',
      egress: this.#egress(),
      mcp: [],
      actions: [],
      // All budgets are set, so that the server’s defaults cannot change a benchmark.
      budgets: allBudgets.parse({ ...budgets, seconds: step.limits.agent }),
      tags: ['evaluation', task.suite],
      ...(labels && { labels }),
    });
    // Before its services start: `stop` ends the session even if they do not.
    this.#id = session.id;
    this.context.onSession?.(session.id);
    if (services) await startBeside(this.context, services, { client, session, archive });
    return session.id;
  }

  async #continue(id: string, step: Step, feedback: string | null): Promise<string> {
    const { client } = this.options;
    // The end of the previous try must not be mistaken for the end of this one.
    this.#seen = (await client.sessions.get(id)).lastSeq;
    await client.sessions.message(id, { text: this.#message(step, feedback) });
    return id;
  }

  /** The network that the task declares, through the server's egress proxy. */
  #egress(): EgressPolicy {
    const { network: run, task } = this.context;
    const { network } = task.environment;
    if (run === 'none' || network === 'none') return { profile: 'none', hosts: [] };
    if (network === 'bridge') return { profile: 'open', hosts: [] };
    return { profile: 'list', hosts: network.hosts };
  }

  #message(step: Step, feedback: string | null): string {
    const workdir = workdirOf(this.context);
    if (feedback !== null) {
      const { artifacts } = this.context.task;
      return secondTry(
        feedback,
        artifacts.kind === 'files' ? artifacts.paths.join(' ') : 'the files',
      );
    }
    return `${step.instruction}\n\nYou work in ${workspace}, a copy of ${workdir}. Your changes are copied back there when you finish.`;
  }

  /** The content of the image's working folder, with the step's files. */
  async #workspace(step: Step): Promise<Entry[]> {
    const { host, image, run } = this.context;
    const workdir = workdirOf(this.context);
    const container = await createTask(host, {
      run,
      image: image.name,
      command: ['true'],
      user: 'root',
      workdir: null,
      env: {},
      cpus: 1,
      memoryMb: 512,
      network: 'none',
      files: startingFiles(this.context, step),
    });
    try {
      const all = workdir === '/' ? [] : await readFiles(container, workdir);
      return all
        .filter(({ path }) => path.startsWith(`${workdir}/`))
        .map((entry) => ({ ...entry, path: entry.path.slice(workdir.length + 1) }));
    } finally {
      host.discard(container);
    }
  }

  /**
   * Waits until the session has ended, and returns whether the time limit ended it. A session that
   * waits for the user counts as ended.
   */
  async #ended(id: string, seconds: number, signal: AbortSignal): Promise<boolean> {
    const { client } = this.options;
    const deadline = Date.now() + seconds * 1000;
    for (;;) {
      const events = await client.sessions.events(id, { after: this.#seen });
      this.#seen = events.at(-1)?.seq ?? this.#seen;
      const last = events.findLast((event) => event.action === 'state');
      if (last && isEvent(last, 'state') && (await this.#isOver(id, last.args.state))) return false;
      if (Date.now() > deadline || signal.aborted) {
        await client.sessions.stop(id);
        signal.throwIfAborted();
        return true;
      }
      await new Promise((wake) => setTimeout(wake, pollMs));
    }
  }

  /** A session that waits for its provider goes on by itself. */
  async #isOver(id: string, state: SessionState): Promise<boolean> {
    if (isEnded(state)) return true;
    return state === 'waiting' && needsUser(await this.options.client.sessions.get(id));
  }

  /** The files that differ from the upload, with paths in the task's own working folder. */
  async #collect(id: string, step: Step): Promise<Artifacts> {
    const { task } = this.context;
    const workdir = workdirOf(this.context);
    const now = (
      await readArchive(await this.options.client.sessions.export(id, { format: 'tar' }))
    )
      .map((entry) => ({ ...entry, path: entry.path.replace(/^\.\//, '') }))
      .filter(({ path, kind }) => kind !== 'folder' && !/^\.git(\/|$)/.test(path));
    const before = new Map(this.#initial.map((entry) => [entry.path, entry]));
    const changed = now.filter((entry) => {
      const old = before.get(entry.path);
      return !old?.bytes.equals(entry.bytes) || old.target !== entry.target;
    });
    const present = new Set(now.map(({ path }) => path));
    const gone = this.#initial.filter(
      ({ path, kind }) => kind !== 'folder' && !/^\.git(\/|$)/.test(path) && !present.has(path),
    );
    const artifacts: Artifacts = {
      ...noArtifacts,
      entries: changed.map((entry) => ({
        ...entry,
        path: `${workdir}/${entry.path}`,
        uid: before.get(entry.path)?.uid ?? 0,
        gid: before.get(entry.path)?.gid ?? 0,
      })),
      removed: gone.map(({ path }) => `${workdir}/${path}`),
    };
    if (task.artifacts.kind === 'paths')
      return workArtifacts(this.context, step, { changes: artifacts, paths: task.artifacts.paths });
    // The patch is made in a new repository, from all existing files.
    if (task.artifacts.kind !== 'patch') return artifacts;
    const all = now.map((entry) => ({ ...entry, path: `${workdir}/${entry.path}` }));
    return patchOf(this.context, { ...artifacts, entries: all });
  }
}
