import type { BelayServer } from '@belay/testkit';

/** What a picture of an automation shows. */
export interface PlayedAutomations {
  automation: string;
  /** A run of it, which only decided. */
  decided: string;
}

const figures = `name: figures
description: Counts the lines of code each night, by language.
on:
  schedule: 30 2 * * 1-5
  zone: Europe/Berlin
run:
  task: Count the lines of code by language, and write the table to FIGURES.md.
  model: scripted:example:fix-failing-test
  budgets: { tokens: 1000000, seconds: 900 }
`;

const alert = `name: alert
description: Looks for the cause of a critical alert.
on: { url: true, where: severity == 'critical', key: alert_id }
run:
  task: Find the likely cause of this alert in the repository, and name the commit.
  model: scripted:example:fix-failing-test
  budgets: { tokens: 1000000 }
`;

/** Adds automations, one of which has decided and one of which is paused. */
export async function playAutomations({ client }: BelayServer): Promise<PlayedAutomations> {
  const { automations } = client;
  for (const text of [figures, alert]) await automations.add({ text });
  await automations.run('alert', { dry: true });
  await automations.pause('alert');
  const { run } = await automations.run('figures', { dry: true });
  return { automation: 'figures', decided: run.id };
}
