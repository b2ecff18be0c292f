import {
  automationDefinition,
  automationTag,
  endedRunStates,
  isEnded,
  type AuditEntry,
  type AutomationDefinitionInput,
  type RunState,
} from '@belay/protocol';
import { until } from '@belay/testing';
import { automationCallerPrefix } from '../../access/assert-may-change-automations.js';
import { AuditLog } from '../../access/audit-log.js';
import { ownerCaller, type Caller } from '../../access/caller.js';
import { Database } from '../../storage/database.js';
import { TestServer } from '../../testing/server.js';
import { Clock } from '../clock.js';
import { AutomationsStore } from '../definitions/automations.store.js';
import type { SavedAutomation } from '../definitions/saved-automation.js';
import { AutomationRuns } from '../runs/automation-runs.js';
import { RunIntake } from '../runs/run-intake.js';
import { RunLoop } from '../runs/run-loop.js';
import { RunsStore, type StoredRun } from '../runs/runs.store.js';
import { SkippableClock } from './skippable-clock.js';

type Definition = Omit<AutomationDefinitionInput, 'name' | 'run'> & {
  run?: Partial<AutomationDefinitionInput['run']>;
};

/** A patch of as many files. */
export const patchOfFiles = (files: number): Buffer =>
  Buffer.from(
    Array.from(
      { length: files },
      (_, at) => `diff --git a/${at} b/${at}\nnew file mode 100644\n`,
    ).join(''),
  );

/** The whole server except containers, with the runs of automations and agents that a test controls. */
export class RunBench {
  readonly clock = new SkippableClock();
  #names = 0;
  #env: Record<string, string> = {};

  /** `begins` starts a server that something else starts, as a scene with a git server does. */
  constructor(
    readonly belay = new TestServer(),
    private readonly begins?: () => Promise<unknown>,
  ) {
    belay.replace(Clock, this.clock);
  }

  /** `env` names the database, if it is another than that of the data folder. */
  async start(env: Record<string, string> = {}): Promise<void> {
    this.#env = { BELAY_MAX_SANDBOXES: '200', ...env };
    await (this.begins?.() ?? this.belay.start(this.#env));
    this.changesFiles(1);
  }

  /** As another process, on the same database. */
  async restart(): Promise<void> {
    await this.belay.restart(this.#env);
  }

  close(): Promise<void> {
    return this.belay.close();
  }

  get engine(): AutomationRuns {
    return this.belay.app.get(AutomationRuns);
  }

  /** How many runs wait for a time. */
  get waiting(): number {
    return this.belay.app.get(RunLoop).waiting;
  }

  get store(): RunsStore {
    return this.belay.app.get(RunsStore);
  }

  get automations(): AutomationsStore {
    return this.belay.app.get(AutomationsStore);
  }

  get kysely(): Database['kysely'] {
    return this.belay.app.get(Database).kysely;
  }

  /** The number of files that sessions change. */
  changesFiles(files: number): void {
    this.belay.sandboxes.patch = () => [patchOfFiles(files)];
  }

  /** An automation with a name of its own. */
  define({ run, ...more }: Definition, by: Caller = ownerCaller): Promise<SavedAutomation> {
    const name = `auto-${++this.#names}`;
    const usual = { task: 'Work', model: 'scripted:x', budgets: { dollars: 1 } };
    const definition = { ...more, name, run: { ...usual, ...run } };
    return this.automations.save(automationDefinition.parse(definition), { by });
  }

  /** An automation that is begun by hand, and whose runs do not wait for each other’s times. */
  byHand(more: Partial<Definition> = {}): Promise<SavedAutomation> {
    return this.define({ on: { hand: true }, ...more, lane: { cooldown: '1s', ...more.lane } });
  }

  /** Begins a run by hand, and returns its id. */
  async begin(automation: SavedAutomation, wish: object = {}): Promise<string> {
    const fresh = await this.automations.require(automation.name);
    const { run } = await this.engine.beginByHand(fresh, { dry: false, ...wish }, ownerCaller);
    return run.id;
  }

  /** Takes an occurrence as one that a trigger has learned of. */
  take(automation: SavedAutomation, key: string, more: object = {}): Promise<string[]> {
    const event = 'url' in automation.definition.on ? 'url' : 'schedule';
    const at = this.clock.now().toISOString();
    const occurrence = { event, key, at, actor: null, ...more } as const;
    return this.belay.app
      .get(RunIntake)
      .take({ id: `delivery ${key}`, source: automation.id, occurrence });
  }

  run(id: string): Promise<StoredRun> {
    return this.store.require(id);
  }

  async reaches(id: string, state: RunState): Promise<StoredRun> {
    const now = async () => {
      const run = await this.run(id);
      return `${run.state} ${run.code} ${run.why}`;
    };
    const isThere = async () => (await this.run(id)).state === state;
    await until(`${id} is ${state}`, isThere, { state: now });
    return this.run(id);
  }

  async ended(id: string): Promise<StoredRun> {
    const isThere = async () => endedRunStates.includes((await this.run(id)).state);
    await until(`${id} has ended`, isThere, { state: async () => (await this.run(id)).state });
    return this.run(id);
  }

  /** The session of a run at work, whose agent runs. */
  async sessionOf(id: string): Promise<string> {
    const { session } = await this.reaches(id, 'working');
    if (session === null) throw new Error(`${id} has no session`);
    await this.belay.reaches(session, 'running');
    return session;
  }

  /** Lets the agent of a run at work finish. */
  async finishes(id: string): Promise<void> {
    const session = await this.sessionOf(id);
    await this.belay.sandboxes.finishes(this.belay.log, session);
  }

  /** Lets the agent of a run finish, and returns the run when it has ended. */
  async works(id: string): Promise<StoredRun> {
    await this.finishes(id);
    return this.ended(id);
  }

  /** Finishes the agent of a run whenever it runs, until the run has ended. */
  async completes(id: string): Promise<StoredRun> {
    const isDone = async () => {
      const { state, session } = await this.run(id);
      if (endedRunStates.includes(state)) return true;
      await this.finishesIfRunning(session);
      return false;
    };
    await until(`${id} has ended`, isDone, { state: async () => (await this.run(id)).state });
    return this.run(id);
  }

  async finishesIfRunning(session: string | null): Promise<void> {
    const all = await this.belay.log.summaries();
    const found = all.find((each) => each.id === session);
    if (!found || found.state !== 'running' || isEnded(found.state)) return;
    if (this.belay.sandboxes.state(found.id) !== 'connected') return;
    await this.belay.sandboxes.finishes(this.belay.log, found.id);
  }

  /** What the audit log has of an automation, the oldest first. */
  async audited({ id }: SavedAutomation): Promise<AuditEntry[]> {
    const caller = `${automationCallerPrefix}${id}`;
    const page = await this.belay.app.get(AuditLog).page({ limit: 100, caller });
    return page.entries.toReversed();
  }

  /** The sessions that an automation began. */
  async sessions({ name }: SavedAutomation): Promise<string[]> {
    const all = await this.belay.log.summaries();
    return all.flatMap(({ id, tags }) => (tags.includes(`${automationTag}${name}`) ? id : []));
  }
}
