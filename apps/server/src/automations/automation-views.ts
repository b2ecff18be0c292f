import { Injectable } from '@nestjs/common';
import {
  AppError,
  type AutomationInfo,
  type AutomationLane,
  type AutomationRun,
  type AutomationVersion,
  type PageQuery,
  type RunExplanation,
} from '@belay/protocol';
import { sees, seesAll, type Caller } from '../access/caller.js';
import { Database } from '../storage/database.js';
import { Clock } from './clock.js';
import { AutomationsStore } from './definitions/automations.store.js';
import { definitionYaml } from './definitions/definition-yaml.js';
import type { SavedAutomation } from './definitions/saved-automation.js';
import { AutomationRuns } from './runs/automation-runs.js';
import { inDollars, spentInMonth } from './runs/money.js';
import { RunViews } from './runs/run-views.js';
import { RunsStore } from './runs/runs.store.js';

/** Runs that a list shows for each automation. */
const latestRuns = 10;
const usualPage = 100;

/** Automations and their runs as users see them. */
@Injectable()
export class AutomationViews {
  constructor(
    private readonly database: Database,
    private readonly automations: AutomationsStore,
    private readonly runs: AutomationRuns,
    private readonly stored: RunsStore,
    private readonly runViews: RunViews,
    private readonly clock: Clock,
  ) {}

  /** All automations, by name. */
  async list(): Promise<AutomationInfo[]> {
    return this.#infosOf(await this.automations.list());
  }

  async info(automation: SavedAutomation): Promise<AutomationInfo> {
    const [info] = await this.#infosOf([automation]);
    if (!info) throw new AppError('internal', `There is nothing about ${automation.name}.`);
    return info;
  }

  /** As many queries for many automations as for one: the dashboard asks every few seconds. */
  async #infosOf(automations: readonly SavedAutomation[]): Promise<AutomationInfo[]> {
    const ids = automations.map(({ id }) => id);
    const [latest, waiting, spent] = await Promise.all([
      this.stored.latestOf(ids, latestRuns),
      this.stored.waitingOf(ids),
      spentInMonth(this.database.kysely, ids, this.clock.now()),
    ]);
    const views = new Map(
      (await this.runViews.of([...latest.values()].flat())).map((view) => [view.id, view]),
    );
    return automations.map((automation) => {
      const { id, name, version, state, why, owner, file, nextAt } = automation;
      const { definition, created, updated } = automation;
      return {
        name,
        version,
        state,
        why,
        owner,
        file: file && `${file.host}/${file.repository}/${file.path}`,
        definition,
        nextAt,
        latest: (latest.get(id) ?? []).flatMap((run) => views.get(run.id) ?? []),
        waiting: waiting.get(id) ?? 0,
        dollarsThisMonth: inDollars(spent.get(id) ?? 0),
        created,
        updated,
      };
    });
  }

  /** The newest first; `next` is the id after which more follow. */
  async history(
    { id }: SavedAutomation,
    { after, limit = usualPage }: PageQuery,
  ): Promise<{ runs: AutomationRun[]; next: string | null }> {
    // One more shows whether another page follows.
    const found = await this.stored.ofAutomation(id, { after, limit: limit + 1 });
    const runs = await this.runViews.of(found.slice(0, limit));
    return { runs, next: found.length > limit ? (runs.at(-1)?.id ?? null) : null };
  }

  /**
   * Everything that was found, decided and sent. Throws `not_found`, as if it did not exist, for a run whose session the
   * caller does not see.
   */
  async explanation(run: string, caller: Caller): Promise<RunExplanation> {
    const { session } = (await this.stored.find(run)) ?? { session: null };
    if (seesAll(caller) || (session !== null && sees(caller, session)))
      return this.runs.explain(run);
    // As for one that does not exist.
    throw new AppError(
      'not_found',
      `There is no run ${run.slice(0, 100)}. See: belay automations history NAME`,
    );
  }

  /** The run that began a session; null if none did. */
  async ofSession(session: string): Promise<AutomationRun | null> {
    const run = await this.stored.ofSession(session);
    return run ? ((await this.runViews.of([run]))[0] ?? null) : null;
  }

  /** The lanes that are running, stuck or have attempts. */
  lanes(automation: SavedAutomation): Promise<AutomationLane[]> {
    return this.runs.lanesOf(automation);
  }

  /** The newest first. */
  async versions({ id }: SavedAutomation): Promise<AutomationVersion[]> {
    const versions = await this.automations.versions(id);
    return versions
      .map(({ version, definition, by, at }) => ({
        version,
        by,
        at,
        text: definitionYaml(definition),
      }))
      .toSorted((a, b) => b.version - a.version);
  }
}
