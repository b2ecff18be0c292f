import { Injectable } from '@nestjs/common';
import type { EvaluationSummary, EvaluationTrial } from '@belay/protocol';
import { blobsIn, releaseBlobs, useBlobs } from '../storage/blob-uses.js';
import { Database } from '../storage/database.js';
import type { DatabaseConnection } from '../storage/database-schema.js';

export interface EvaluationRecord {
  epoch: number;
  tasks: string[];
  summary: EvaluationSummary;
}

/** Trials per statement: PostgreSQL accepts at most 65,535 values in one, SQLite 32,766. */
const rowsAtOnce = 500;

/** The tables of benchmark runs and their trials. */
@Injectable()
export class EvaluationStore {
  constructor(private readonly database: Database) {}

  transaction<T>(work: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    return this.database.kysely.transaction().execute(work);
  }

  async list(): Promise<EvaluationSummary[]> {
    const rows = await this.database.kysely.selectFrom('evaluation').select('summary').execute();
    return rows.map(({ summary }) => JSON.parse(summary) as EvaluationSummary);
  }

  /** Within a transaction, the run is locked until its end. */
  async find(id: string, within?: DatabaseConnection): Promise<EvaluationRecord | undefined> {
    const row = await (within ?? this.database.kysely)
      .selectFrom('evaluation')
      .selectAll()
      .where('id', '=', id)
      // SQLite has one connection: its transactions run one at a time anyway.
      .$if(within !== undefined && this.database.kind === 'postgres', (query) => query.forUpdate())
      .executeTakeFirst();
    return (
      row && {
        epoch: row.epoch,
        tasks: JSON.parse(row.tasks) as string[],
        summary: JSON.parse(row.summary) as EvaluationSummary,
      }
    );
  }

  async put(
    connection: DatabaseConnection,
    { epoch, tasks, summary }: EvaluationRecord,
  ): Promise<void> {
    const row = { epoch, tasks: JSON.stringify(tasks), summary: JSON.stringify(summary) };
    await connection
      .insertInto('evaluation')
      .values({ id: summary.id, ...row })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
      .execute();
  }

  /** The trials in reports after `after`, in the order of the reports. */
  async trials(id: string, after: number): Promise<{ seq: number; trial: EvaluationTrial }[]> {
    const rows = await this.database.kysely
      .selectFrom('evaluation_trial')
      .select(['seq', 'trial'])
      .where('evaluation', '=', id)
      .where('seq', '>', after)
      .orderBy('seq')
      .execute();
    return rows.map(({ seq, trial }) => ({ seq, trial: JSON.parse(trial) as EvaluationTrial }));
  }

  async putTrials(
    connection: DatabaseConnection,
    { id, seq }: Pick<EvaluationSummary, 'id' | 'seq'>,
    trials: readonly EvaluationTrial[],
  ): Promise<void> {
    for (let at = 0; at < trials.length; at += rowsAtOnce) {
      const rows = trials.slice(at, at + rowsAtOnce).map((trial) => ({
        evaluation: id,
        task: trial.task,
        attempt: trial.attempt,
        seq,
        outcome: trial.verdict?.outcome ?? null,
        tokens: trial.tokens,
        dollars: trial.dollars,
        trial: JSON.stringify(trial),
      }));
      await connection
        .insertInto('evaluation_trial')
        .values(rows)
        .onConflict((conflict) =>
          conflict.columns(['evaluation', 'task', 'attempt']).doUpdateSet((set) => ({
            seq: set.ref('excluded.seq'),
            outcome: set.ref('excluded.outcome'),
            tokens: set.ref('excluded.tokens'),
            dollars: set.ref('excluded.dollars'),
            trial: set.ref('excluded.trial'),
          })),
        )
        .execute();
    }
    await useBlobs(connection, id, blobsIn(trials));
  }

  /** The numbers in a summary that are computed from its trials. */
  async totals(
    connection: DatabaseConnection,
    id: string,
  ): Promise<Pick<EvaluationSummary, 'done' | 'outcomes' | 'tokens' | 'dollars'>> {
    const groups = await connection
      .selectFrom('evaluation_trial')
      .select((of) => [
        'outcome',
        of.fn.countAll<number>().as('count'),
        of.fn.sum<number>('tokens').as('tokens'),
        of.fn.sum<number>('dollars').as('dollars'),
      ])
      .where('evaluation', '=', id)
      .groupBy('outcome')
      .execute();
    const counted = (outcome: string) =>
      Number(groups.find((group) => group.outcome === outcome)?.count ?? 0);
    const outcomes = { pass: counted('pass'), fail: counted('fail'), invalid: counted('invalid') };
    return {
      outcomes,
      done: outcomes.pass + outcomes.fail + outcomes.invalid,
      tokens: groups.reduce((sum, { tokens }) => sum + Number(tokens), 0),
      dollars: groups.reduce((sum, { dollars }) => sum + Number(dollars), 0),
    };
  }

  async remove(id: string): Promise<boolean> {
    return this.transaction(async (connection) => {
      await connection.deleteFrom('evaluation_trial').where('evaluation', '=', id).execute();
      await releaseBlobs(connection, id);
      const { numDeletedRows } = await connection
        .deleteFrom('evaluation')
        .where('id', '=', id)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    });
  }
}
