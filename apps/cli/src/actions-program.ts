import { Option, type Command } from 'commander';
import {
  enableAction,
  listActions,
  removeAction,
  setActionSecret,
  showAction,
} from './commands/actions.js';
import { callInstalledAction } from './commands/call-action.js';
import { installActions, updateActions } from './commands/install-actions.js';
import { actionLanguages, newAction } from './commands/new-action.js';
import { testActions } from './commands/test-actions.js';
import { withJsonOption, withServerOptions } from './server-options.js';

const name = ['<name>', 'the action'] as const;

/** `belay actions`: what agents can do besides the operations. */
export function addActions(program: Command, exit: (code: number) => void): void {
  const actions = program
    .command('actions')
    .description('install, test and remove actions, which give agents new abilities');
  const add = (command: string, description: string): Command =>
    withServerOptions(withJsonOption(actions.command(command))).description(description);
  add('install', 'install the actions, skills and MCP servers of a git repository or a folder')
    .argument('<source>', 'user/repo[@version] of GitHub, the URL of a repository, or a folder')
    .argument('[names...]', 'which of its actions (default: all)')
    .option('-y, --yes', 'update those that are installed without asking')
    .action(async (source, names, options) => exit(await installActions(source, names, options)));
  add('list', 'list the installed actions').action(listActions);
  add('show', 'print what an action does, may do and where it is from')
    .argument(...name)
    .action(showAction);
  add('update', 'look for newer versions, show what changes, and ask')
    .argument('[names...]', 'the actions (default: all)')
    .option('-y, --yes', 'do not ask')
    .action(async (names, options) => exit(await updateActions(names, options)));
  add('remove', 'remove an action with its image and its secrets')
    .argument(...name)
    .action(removeAction);
  add('call', 'call an action, or a tool of an installed MCP server, and print its result')
    .argument('<name>', 'the action, or server.tool')
    .argument('[input...]', 'key=value for each field; other words are positionals')
    .option('--input <json>', 'the input as JSON, or - for standard input')
    .option('--session <id>', 'call it in this session, which has its workspace')
    .option('--save <dir>', 'keep the files that it leaves in this folder')
    .action(async (action, input, options) =>
      exit(await callInstalledAction(action, input, options)),
    );
  add('test', 'run the examples of actions')
    .argument('[names...]', 'the actions')
    .option('--all', 'all that are installed')
    .action(async (names, options) => exit(await testActions(names, options)));
  for (const [verb, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const)
    add(verb, enabled ? 'give it to new sessions' : 'do not give it to new sessions')
      .argument(...name)
      .action((action: string, options) => enableAction(action, { ...options, enabled }));
  add('secret', 'set a secret of an action, from standard input or a prompt')
    .argument(...name)
    .argument('<key>', 'the name of the secret')
    .option('--remove', 'remove it instead')
    .action(setActionSecret);
  actions
    .command('new')
    .description('make a folder with a first action')
    .argument('<folder>', 'the folder; its name is the name of the action')
    .addOption(
      new Option('--language <language>', 'what it is written in')
        .choices(actionLanguages)
        .default('shell'),
    )
    .action(newAction);
}
