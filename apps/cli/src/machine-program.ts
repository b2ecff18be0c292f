import { Command, InvalidArgumentError } from 'commander';
import { joinServer } from './commands/join.js';
import { addMachine, listMachines, removeMachine } from './commands/machines.js';
import { withJsonOption, withServerOptions } from './server-options.js';

/** `belay join`, for the machine that is to run agents. */
export const joinCommand = (): Command =>
  new Command('join')
    .description('let this machine run agents of a server, until Ctrl-C')
    .argument('<url>', 'the server: https://HOST, or http:// on this machine')
    .option('--token <token>', 'one-time token of `belay machines add` (or BELAY_JOIN_TOKEN)')
    .option('--ca <file>', 'trust this certificate authority, too')
    .optionsGroup('Agents in containers:')
    .option('--container', 'run each agent in a container of its own, by Docker on this machine')
    .option('--image <name>', 'image of sessions that name none (the server’s kind of sandbox)')
    .option('--memory <mb>', 'memory of a container in MB (2048)', memory)
    .option('--cpus <n>', 'processors of a container (2)', positive)
    .action(joinServer);

function positive(text: string): number {
  const number = Number(text);
  if (Number.isFinite(number) && number > 0) return number;
  throw new InvalidArgumentError('It must be a number above 0.');
}

function memory(text: string): number {
  const megabytes = positive(text);
  if (Number.isInteger(megabytes) && megabytes >= 64) return megabytes;
  throw new InvalidArgumentError('It must be a whole number of 64 or more.');
}

/** `belay machines`, for the server that they join. */
export function machinesCommand(): Command {
  const machines = new Command('machines').description(
    'list, add and remove the machines that run agents',
  );
  const add = (name: string) => withServerOptions(withJsonOption(machines.command(name)));
  add('list').description('list the machines that joined').action(listMachines);
  add('add')
    .description('create a token with which one machine joins')
    .argument('<name>', 'name of the machine')
    .action(addMachine);
  add('remove')
    .description('revoke a machine; its agents end')
    .argument('<name>', 'name or id of the machine')
    .action(removeMachine);
  return machines;
}
