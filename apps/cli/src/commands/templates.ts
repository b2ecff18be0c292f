import { AppError, type SavedTemplate } from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { clientFor, type PrintOptions, type Where } from '../connection.js';
import { outputTo } from '../output.js';
import { ownSettings, type OwnSettings } from '../own-settings.js';
import { givenText } from '../given-text.js';
import { printList } from '../print-list.js';

/** `belay templates`: one line per template. */
export async function listTemplates(options: PrintOptions): Promise<void> {
  printList(await clientFor(options).templates.list(), options, {
    empty: 'No templates yet. Save one: belay templates save NAME "TASK"',
    row: ({ name, model, task }) => [name, model ?? '', task],
  });
}

/** `belay templates save`. */
export async function saveTemplate(
  name: string,
  given: string,
  options: Where & OwnSettings & { model?: string; check?: string },
): Promise<void> {
  const client = clientFor(options);
  const task = await givenText(given);
  await client.templates.save(name, {
    task,
    model: options.model ?? null,
    check: options.check ?? null,
    ...ownSettings(options),
  });
  outputTo(process.stdout).line(`Saved. Use it with: belay run --template ${JSON.stringify(name)}`);
}

/** `belay templates remove`. */
export async function removeTemplate(name: string, options: Where): Promise<void> {
  const client = clientFor(options);
  await client.templates.remove(name);
}

/** Throws `not_found` with the names that there are. */
export async function templateNamed(client: BelayClient, name: string): Promise<SavedTemplate> {
  const all = await client.templates.list();
  const found = all.find((template) => template.name === name);
  if (found) return found;
  const names = all.map((template) => template.name).join(', ');
  throw new AppError(
    'not_found',
    `There is no template ${name}. Choose one of: ${names || '(none; save one with belay templates save)'}.`,
  );
}
