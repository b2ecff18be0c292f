import { randomUUID } from 'node:crypto';
import { isForgeTrigger, runFindings, type Occurrence, type RunFindings } from '@belay/protocol';
import { RunIntake } from '../runs/run-intake.js';
import type { RunRecord } from '../run-record.js';
import { RunMaterials } from '../trust/run-materials.js';
import type { RunBench } from './run-bench.js';

/** Something that happened to an issue, unless told otherwise. */
export const occurrenceOf = (
  event: Occurrence['event'],
  more: Partial<Occurrence> = {},
): Occurrence => ({
  event,
  key: `${event}:1`,
  at: '2026-11-28T10:00:00Z',
  number: 7,
  actor: { id: '5', name: 'ada', isBot: false },
  ...more,
});

/** In place of a git host: everyone may begin runs, which are given nothing of it. */
export function letEveryoneBegin(bench: RunBench, found: Partial<RunFindings> = {}): void {
  const materials = bench.belay.app.get(RunMaterials);
  const real = materials.of.bind(materials);
  const findings = runFindings.parse(found);
  const nothing = { findings, fields: {}, parts: [], texts: [], repository: null, threads: [] };
  materials.of = async (run: RunRecord) =>
    isForgeTrigger(run.definition.on) ? { material: nothing, decisions: [] } : real(run);
  materials.actorStillMay = () => Promise.resolve(true);
}

/** A repository of git.test that the server follows as the user with the id 1. */
export class FollowedRepository {
  private constructor(
    private readonly bench: RunBench,
    readonly source: string,
  ) {}

  static async of(bench: RunBench, repository: string): Promise<FollowedRepository> {
    const id = `source-${repository}`;
    await bench.kysely
      .insertInto('forge_source')
      .values({
        id,
        host: 'git.test',
        repository,
        repository_id: repository,
        default_branch: 'main',
        self_id: '1',
        self_name: 'belay',
        created: new Date().toISOString(),
        hook_id: null,
        files_by: null,
        files_commit: null,
        problem: null,
      })
      .execute();
    return new FollowedRepository(bench, id);
  }

  /** Stores a delivery, takes it, and returns the ids of its runs. */
  async delivers(about: Occurrence, id: string = randomUUID()): Promise<string[]> {
    const { source } = this;
    await this.bench.kysely
      .insertInto('automation_delivery')
      .values({
        id,
        source,
        transport: 'webhook',
        delivery: id,
        event: about.event,
        event_key: about.key,
        at: about.at,
        occurrence: JSON.stringify(about),
        state: 'received',
        body_sha256: null,
        why: null,
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return this.bench.belay.app.get(RunIntake).take({ id, source, occurrence: about });
  }
}
