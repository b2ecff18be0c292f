import { Option, type Command } from 'commander';
import {
  enableAction,
  listActions,
  removeAction,
  setActionSecret,
  showAction,
} from './commands/actions.js';
import { callFromTerminal } from './commands/call-action.js';
import { installActions, updateActions } from './commands/install-actions.js';
import { actionLanguages, newAction } from './commands/new-action.js';
import { testActions } from './commands/test-actions.js';
import { withJsonOption, withServerOptions } from './server-options.js';

const name = ['<name>', 'name of the action'] as const;

/** `belay actions`: abilities of agents in addition to the operations. */
export function addActionsCommands(program: Command, exit: (code: number) => void): void {
  const actions = program
    .command('actions')
    .description('install, test and remove actions, which give agents new abilities');
  const add = (command: string, description: string): Command =>
    withServerOptions(withJsonOption(actions.command(command))).description(description);
  add('install', 'install the actions, skills and MCP servers of a git repository or a folder')
    .argument('<source>', 'user/repo[@version] on GitHub, the URL of a repository, or a folder')
    .argument('[names...]', 'names of the actions to install (default: all)')
    .option('-y, --yes', 'do not ask')
    .action(async (source, names, options) => exit(await installActions(source, names, options)));
  withServerOptions(withJsonOption(actions.command('list', { isDefault: true })))
    .description('list the installed actions')
    .action(listActions);
  add('show', 'print what an action does, what it may do and where it came from')
    .argument(...name)
    .action(showAction);
  add('update', 'look for newer versions, show the changes and ask before installing')
    .argument('[names...]', 'names of the actions (default: all)')
    .option('-y, --yes', 'do not ask')
    .action(async (names, options) => exit(await updateActions(names, options)));
  add('remove', 'remove an action, its image and its secrets')
    .argument(...name)
    .action(removeAction);
  add('call', 'call an action, or a tool of an installed MCP server, and print its result')
    .argument('<name>', 'name of the action, or SERVER.TOOL')
    .argument('[input...]', 'key=value for each field; other words are positional arguments')
    .option('--input <json>', 'the input as JSON, or - for standard input')
    .option('--session <id>', 'call it in this session, with its workspace')
    .option('--save <dir>', 'save the files that it produces to this folder')
    .action(async (action, input, options) => exit(await callFromTerminal(action, input, options)));
  add('test', 'run the examples of actions')
    .argument('[names...]', 'names of the actions')
    .option('--all', 'all installed actions')
    .action(async (names, options) => exit(await testActions(names, options)));
  for (const [verb, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const)
    add(verb, `${verb} an action for new sessions`)
      .argument(...name)
      .action((action: string, options) => enableAction(action, { ...options, enabled }));
  add('secret', 'set a secret of an action; prompts for it, or reads it from standard input')
    .argument(...name)
    .argument('<key>', 'name of the secret')
    .option('--remove', 'remove the secret instead')
    .action(setActionSecret);
  actions
    .command('new')
    .description('create a folder with a working action to start from')
    .argument('<folder>', 'folder to create; its name is the name of the action')
    .addOption(
      new Option('--language <language>', 'language of the action')
        .choices(actionLanguages)
        .default('shell'),
    )
    .action(newAction);
}
