import { dollarsText, type AutomationDefinition } from '@belay/protocol';
import type { DatabaseConnection } from '../../storage/database-schema.js';

/** Money is stored in millionths of a dollar: sums of them are exact. */
export const microdollars = (dollars: number): number => Math.round(dollars * 1e6);

export const inDollars = (micro: number): number => micro / 1e6;

/** What a run reserves when it begins: all that it may spend, or nothing if it is limited by tokens alone. */
export const reservedBy = ({ run }: Pick<AutomationDefinition, 'run'>): number =>
  microdollars(run.budgets.dollars ?? 0);

/** The beginning of the month of UTC. */
export const monthOf = (now: Date): string =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString();

/**
 * What the runs of each of these automations that began in this month have spent and reserved, in millionths; those without
 * such a run are missing.
 */
export async function spentInMonth(
  connection: DatabaseConnection,
  automations: readonly string[],
  now: Date,
): Promise<Map<string, number>> {
  if (automations.length === 0) return new Map();
  const rows = await connection
    .selectFrom('automation_run')
    .select((select) => [
      'automation',
      select.fn.sum<number | string | null>('reserved').as('reserved'),
      select.fn.sum<number | string | null>('spent').as('spent'),
    ])
    .where('automation', 'in', automations)
    .where('started', '>=', monthOf(now))
    .groupBy('automation')
    .execute();
  return new Map(
    rows.map(({ automation, reserved, spent }) => [
      automation,
      Number(reserved ?? 0) + Number(spent ?? 0),
    ]),
  );
}

/** Undefined if the month has enough left for this run. */
export function overMonth({ run, lane }: AutomationDefinition, spent: number): string | undefined {
  const wanted = reservedBy({ run });
  if (spent + wanted <= microdollars(lane.dollarsPerMonth)) return undefined;
  const [used, more, limit] = [inDollars(spent), inDollars(wanted), lane.dollarsPerMonth].map(
    dollarsText,
  );
  return `This month (UTC) ${used} of ${limit} are spent or reserved, and this run may need ${more}: raise lane.dollarsPerMonth, or wait for the next month.`;
}
