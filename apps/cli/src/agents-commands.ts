import { Option, type Command } from 'commander';
import { agentProtocol } from '@belay/protocol';
import {
  addAgent,
  installAgents,
  listAgents,
  logoutOfAgent,
  removeAgent,
  updateAgents,
} from './commands/agents.js';
import { several } from './options.js';
import { withJsonOption, withServerOptions } from './server-options.js';

/** `belay agents`: agents of other vendors, for sessions. */
export function addAgentsCommands(program: Command, exit: (code: number) => void): void {
  const agents = program
    .command('agents')
    .description('install, list and remove agents of other vendors for sessions');
  const add = (name: string, options = {}) =>
    withServerOptions(withJsonOption(agents.command(name, options)));
  add('list', { isDefault: true })
    .description('list the agents, with their versions and licences')
    .action(listAgents);
  add('install')
    .description('install agents from the npm registry of the server’s machine')
    .argument('<names...>', 'names of agents; see belay agents list')
    .option('--accept', 'accept their licences, which proprietary ones need')
    .action(async (names, options) => exit(await installAgents(names, options)));
  add('update')
    .description('install the versions that this version of Belay has a lock for')
    .argument('[names...]', 'names of agents (default: all that are installed)')
    .option('--version <version>', 'install this version of one agent, which Belay has not checked')
    .option('-y, --yes', 'do not ask about that version')
    .action(async (names, options) => exit(await updateAgents(names, options)));
  add('add')
    .description('add an agent whose program is in the image of a session')
    .argument('<name>', 'its name for --agent')
    .argument('<command...>', 'its command, after --; {task} stands for the task')
    .option('--title <title>', 'its name in the dashboard (default: the name)')
    .option('--env <name=value>', 'variable for its program (repeatable)', several)
    .addOption(
      new Option('--protocol <protocol>', 'how it is driven')
        .choices(agentProtocol.options)
        .default('acp'),
    )
    .action(addAgent);
  add('remove')
    .description('remove an agent; sessions that have it keep it')
    .argument('<name>', 'name of the agent')
    .action(removeAgent);
  add('logout')
    .description('remove your own sign-in to an agent, made with belay run --login')
    .argument('<name>', 'name of the agent')
    .action(logoutOfAgent);
}
