import type { SessionDefaults, SessionDefaultsChange } from '@belay/protocol';

/** Budgets, network and approvals as the user types them. */
export interface DefaultTexts {
  approvals: SessionDefaults['approvals'];
  steps: string;
  tokens: string;
  dollars: string;
  minutes: string;
  egress: SessionDefaults['egress']['profile'];
  hosts: string;
}

export function textsOf({ budgets, egress, approvals }: SessionDefaults): DefaultTexts {
  const text = (limit: number | null, unit = 1) => (limit === null ? '' : String(limit / unit));
  return {
    approvals,
    steps: text(budgets.steps),
    tokens: text(budgets.tokens),
    dollars: text(budgets.dollars),
    minutes: text(budgets.seconds, 60),
    egress: egress.profile,
    hosts: egress.hosts.join(', '),
  };
}

/** What a change says, as the user would have typed it. */
export function textsOfChange({
  approvals,
  budgets = {},
  egress = {},
}: SessionDefaultsChange): Partial<DefaultTexts> {
  const { steps, tokens, dollars, seconds } = budgets;
  const text = (name: keyof DefaultTexts, limit: number | null | undefined, unit = 1) =>
    limit === undefined ? {} : { [name]: limit === null ? '' : String(limit / unit) };
  return {
    ...(approvals && { approvals }),
    ...text('steps', steps),
    ...text('tokens', tokens),
    ...text('dollars', dollars),
    ...text('minutes', seconds, 60),
    ...(egress.profile && { egress: egress.profile }),
    ...(egress.hosts && { hosts: egress.hosts.join(', ') }),
  };
}

/** Only what was typed: the rest stays with the server’s settings. An empty limit is none. */
export function changeOf(texts: Partial<DefaultTexts>): SessionDefaultsChange {
  const { approvals, steps, tokens, dollars, minutes, egress, hosts } = texts;
  return {
    ...(approvals && { approvals }),
    budgets: {
      ...(steps !== undefined && { steps: numberOf(steps) }),
      ...(tokens !== undefined && { tokens: numberOf(tokens) }),
      ...(dollars !== undefined && { dollars: numberOf(dollars) }),
      ...(minutes !== undefined && { seconds: numberOf(minutes, 60) }),
    },
    egress: {
      ...(egress && { profile: egress }),
      ...(hosts !== undefined && { hosts: words(hosts) }),
    },
  };
}

function numberOf(text: string, unit = 1): number | null {
  const value = Number(text.trim());
  return text.trim() && Number.isFinite(value) && value > 0 ? value * unit : null;
}

export const words = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);
