import { randomUUID } from 'node:crypto';
import {
  automationDefinition,
  type AutomationDefinitionInput,
  type DeliveryRow,
  type Occurrence,
} from '@belay/protocol';
import { ownerCaller } from '../../../access/caller.js';
import { Resolver } from '../../../egress/resolver.js';
import { TestLogs, type TestDatabases } from '../../../testing/logs.js';
import { AutomationsStore } from '../../definitions/automations.store.js';
import type { SavedAutomation } from '../../definitions/saved-automation.js';
import type { Forge } from '../../forges/forge.js';
import { ForgeSources } from '../../forges/forge-sources.js';
import type { Forges } from '../../forges/forges.js';
import type { RunIntake } from '../../runs/run-intake.js';
import { Deliveries } from '../deliveries.js';
import { DeliveryRows } from '../delivery-rows.js';
import { ForgeQuestions } from '../forge-questions.js';
import { SteppedClock } from './stepped-clock.js';

type Taken = Parameters<RunIntake['take']>[0];

/** What triggers need, on a real database: runs are only noted, and the git host is what the test says. */
export class TriggerScene {
  readonly clock = new SteppedClock();
  /** What was taken, in order. */
  taken: Taken[] = [];
  /** Which occurrences an automation wants. */
  wants: (occurrence: Occurrence) => boolean = () => true;
  /** Thrown in place of taking what comes. */
  failure: Error | undefined;
  forge: Partial<Forge> = {};
  automations!: AutomationsStore;
  sources!: ForgeSources;
  rows!: DeliveryRows;
  deliveries!: Deliveries;
  questions!: ForgeQuestions;
  readonly logs: TestLogs;
  /** The source that was made first. */
  #first: string | undefined;

  constructor(databases?: TestDatabases) {
    this.logs = new TestLogs(databases);
  }

  async open(): Promise<this> {
    await this.logs.open();
    await this.#build();
    return this;
  }

  /** Simulates a killed server: what was under way is lost. */
  async restart(): Promise<this> {
    await this.deliveries.onApplicationShutdown();
    await this.logs.reopen();
    await this.#build();
    return this;
  }

  async close(): Promise<void> {
    await this.deliveries.onApplicationShutdown();
    await this.logs.close();
  }

  async #build(): Promise<void> {
    const { config, database } = this.logs;
    this.automations = new AutomationsStore(database);
    this.rows = new DeliveryRows(database, this.clock);
    const forges = { open: () => this.forge as Forge } as unknown as Forges;
    this.sources = new ForgeSources(
      config,
      database,
      await this.logs.documents(),
      forges,
      new Resolver(),
      this.clock,
    );
    this.questions = new ForgeQuestions(this.automations, this.sources, forges);
    this.deliveries = new Deliveries(
      this.rows,
      { take: (delivery: Taken) => this.#take(delivery) } as RunIntake,
      this.questions,
      this.automations,
      this.sources,
      this.clock,
    );
  }

  async source(more: { id?: string; host?: string; repository?: string } = {}): Promise<string> {
    const { id = randomUUID(), host = 'git.acme.dev', repository = 'acme/api' } = more;
    await this.logs.database.kysely
      .insertInto('forge_source')
      .values({
        id,
        host,
        repository,
        repository_id: '17',
        default_branch: 'main',
        self_id: '99',
        self_name: 'belay',
        hook_id: null,
        files_by: null,
        files_commit: null,
        problem: null,
        created: this.clock.now().toISOString(),
      })
      .execute();
    this.#first ??= id;
    return id;
  }

  automation(
    on: AutomationDefinitionInput['on'],
    more: Partial<AutomationDefinitionInput> = {},
  ): Promise<SavedAutomation> {
    const definition = automationDefinition.parse({
      name: 'fix',
      on,
      run: { task: 'Fix it', budgets: { dollars: 1 } },
      ...more,
    });
    return this.automations.save(definition, { by: ownerCaller });
  }

  /** Every row, in order, with the state that people see. */
  async stored(): Promise<
    { delivery: string; state: DeliveryRow['state']; key: string | null; why: string | null }[]
  > {
    await this.deliveries.drained();
    const rows = await this.logs.database.kysely
      .selectFrom('automation_delivery')
      .selectAll()
      .orderBy('id')
      .execute();
    return rows.map(({ delivery, state, event_key: key, why }) => ({ delivery, state, key, why }));
  }

  async #take(delivery: Taken): Promise<string[]> {
    if (this.failure) throw this.failure;
    if (!this.wants(delivery.occurrence)) return [];
    this.taken.push(delivery);
    const id = `run-${this.taken.length}`;
    const { event, key } = delivery.occurrence;
    const all = await this.automations.list();
    const automation = all.length === 1 && delivery.source === this.#first ? all[0] : undefined;
    const now = this.clock.now().toISOString();
    await this.logs.database.kysely
      .insertInto('automation_run')
      .values({
        id,
        version: 1,
        event,
        event_key: key,
        delivery: delivery.id,
        lane: '',
        subject: event,
        automation: automation?.id ?? delivery.source,
        occurrence: '{}',
        findings: '{}',
        decisions: '[]',
        state: 'pending',
        due: now,
        created: now,
      })
      .execute();
    return [id];
  }
}
