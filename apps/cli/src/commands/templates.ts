import { text } from 'node:stream/consumers';
import { AppError, visibleText, type SavedTemplate } from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { connect, type Where } from '../connection.js';
import { oneLine, outputTo } from '../output.js';
import { ownSettings, type OwnSettings } from '../own-settings.js';

export async function listTemplates(options: Where & { json?: boolean }): Promise<void> {
  const { client, live } = connect(options);
  live.close();
  const found = await client.templates.list();
  const output = outputTo(process.stdout);
  if (options.json) return output.json(found);
  for (const { name, model, task } of found)
    output.line(`${visibleText(name)}  ${model ?? ''}  ${oneLine(task, 80)}`);
  if (found.length === 0)
    output.line('No templates yet. Save one: belay templates save NAME "TASK"');
}

export async function saveTemplate(
  name: string,
  given: string,
  options: Where & OwnSettings & { model?: string; check?: string },
): Promise<void> {
  const { client, live } = connect(options);
  live.close();
  const task = given === '-' ? (await text(process.stdin)).trim() : given.trim();
  await client.templates.save(name, {
    task,
    model: options.model ?? null,
    check: options.check ?? null,
    ...ownSettings(options),
  });
  outputTo(process.stdout).line(`Saved. Use it with: belay run --template ${JSON.stringify(name)}`);
}

export async function removeTemplate(name: string, options: Where): Promise<void> {
  const { client, live } = connect(options);
  live.close();
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
