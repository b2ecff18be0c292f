import type { Command } from 'commander';
import { listTemplates, removeTemplate, saveTemplate } from './commands/templates.js';
import { withOwnSettings } from './own-settings.js';
import { withJsonOption, withServerOptions } from './server-options.js';

/** `belay templates`: tasks with their settings, saved on the server for this user. */
export function addTemplatesCommands(program: Command): void {
  const templates = program
    .command('templates')
    .description('list, save and remove your task templates, for belay run --template');
  withServerOptions(withJsonOption(templates.command('list', { isDefault: true })))
    .description('list your templates')
    .action(listTemplates);
  withServerOptions(withOwnSettings(templates.command('save')))
    .description('save a template; replaces one of the same name')
    .argument('<name>', 'name of the template')
    .argument('<task>', 'the task; - reads it from standard input')
    .option('-m, --model <model>', 'provider:model (default: none)')
    .option('--check <command>', 'command that the server runs in the sandbox at the end')
    .action(saveTemplate);
  withServerOptions(templates.command('remove'))
    .description('remove a template')
    .argument('<name>', 'name of the template')
    .action(removeTemplate);
}
