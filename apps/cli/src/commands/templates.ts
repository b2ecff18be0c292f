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
  await clientFor(options).templates.remove(name);
  outputTo(process.stderr).line(`Removed ${name}.`);
}
