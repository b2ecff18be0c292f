import type { Budgets, SessionDefaults, SessionDefaultsChange } from '@belay/protocol';
import { splitList } from '@/lib/split-list';

/**
 * The limit fields of the form with their budgets; `unit` converts a field to its budget’s unit.
 */
export const budgetFields = [
  { name: 'steps', budget: 'steps', unit: 1 },
  { name: 'tokens', budget: 'tokens', unit: 1 },
  { name: 'dollars', budget: 'dollars', unit: 1 },
  { name: 'minutes', budget: 'seconds', unit: 60 },
] as const satisfies { name: string; budget: keyof Budgets; unit: number }[];

export type BudgetField = (typeof budgetFields)[number]['name'];

/** Budgets, network and approvals as typed. */
export interface DefaultTexts extends Record<BudgetField, string> {
  approvals: SessionDefaults['approvals'];
  egress: SessionDefaults['egress']['profile'];
  hosts: string;
}

/** Converts settings to texts. Fields missing from a change stay missing. */
export function textsOf(defaults: SessionDefaults): DefaultTexts;
export function textsOf(change: SessionDefaultsChange): Partial<DefaultTexts>;
export function textsOf({ approvals, budgets = {}, egress = {} }: SessionDefaultsChange) {
  const texts: Partial<DefaultTexts> = {
    ...(approvals && { approvals }),
    ...(egress.profile && { egress: egress.profile }),
    ...(egress.hosts && { hosts: egress.hosts.join(', ') }),
  };
  for (const { name, budget, unit } of budgetFields) {
    const limit = budgets[budget];
    if (limit !== undefined) texts[name] = limit === null ? '' : String(limit / unit);
  }
  return texts;
}

/**
 * Converts edited texts to a change; other fields keep the server’s settings. An empty limit means
 * no limit.
 */
export function changeOf(texts: Partial<DefaultTexts>): SessionDefaultsChange {
  const { approvals, egress, hosts } = texts;
  const budgets: Partial<Budgets> = {};
  for (const { name, budget, unit } of budgetFields) {
    const text = texts[name];
    if (text !== undefined) budgets[budget] = numberOf(text, unit);
  }
  return {
    ...(approvals && { approvals }),
    budgets,
    egress: {
      ...(egress && { profile: egress }),
      ...(hosts !== undefined && { hosts: splitList(hosts) }),
    },
  };
}

function numberOf(text: string, unit: number): number | null {
  const value = Number(text.trim());
  return Number.isFinite(value) && value > 0 ? value * unit : null;
}
