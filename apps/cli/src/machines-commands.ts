import type { Command } from 'commander';
import { joinServer } from './commands/join.js';
import { leaveServer } from './commands/leave.js';
import {
  addMachine,
  drainMachine,
  listMachines,
  removeMachine,
  useMachine,
} from './commands/machines.js';
import { aboveZero, containerMegabytes, several, wholeNumber } from './options.js';
import { withJsonOption, withServerOptions } from './server-options.js';

/** `belay join` and `leave` for a machine that runs agents, and `belay machines` for its server. */
export function addMachinesCommands(program: Command, exit: (code: number) => void): void {
  program
    .command('join')
    .description('let this machine run agents for a server, until Ctrl-C')
    .argument('<url>', 'the server: https://HOST, or http:// on this machine')
    .option('--token <token>', 'one-time token of `belay machines add` (or BELAY_JOIN_TOKEN)')
    .option('--ca <file>', 'also trust this certificate authority')
    .optionsGroup('Agents in containers:')
    .option('--container', 'run each agent in a container of its own, with Docker on this machine')
    .option('--kubernetes', 'run each agent in a pod of its own, in the cluster of KUBECONFIG')
    .option(
      '--image <name>',
      'image for sessions that do not name one (default: the usual sandbox image)',
    )
    .option(
      '--allow-image <names...>',
      'other images that the server may use, * for any characters (default: none)',
    )
    .option('--memory <mb>', 'memory per container in MB (default: 2048)', containerMegabytes)
    .option('--cpus <n>', 'CPUs per container (default: 2)', aboveZero)
    .option(
      '--max-sandboxes <n>',
      'containers at a time (default: as many as the memory holds)',
      wholeNumber,
    )
    .optionsGroup('Agents in pods:')
    .option('--runtime-image <name>', 'image with the agent, which the nodes can pull')
    .option('--agent-url <url>', 'wss://HOST:PORT, as pods reach this machine, which listens there')
    .option('--namespace <name>', 'namespace of the pods (default: belay-sandboxes)')
    .option('--storage-class <name>', 'class of volumes for files (default: that of the cluster)')
    .option('--runtime-class <name>', 'RuntimeClass of the pods (default: that of the cluster)')
    .option(
      '--pod-scheduling <json>',
      'nodeSelector, tolerations and priorityClassName of the pods (default: none)',
    )
    .option('--pod-files', 'keep files in the pods, without volumes')
    .option('--allow-unconfined', 'run pods although no policy confines them')
    .action(joinServer);
  program
    .command('leave')
    .description(
      'remove what this machine keeps for a server: its credential and files of sessions',
    )
    .argument('<url>', 'the server, as in `belay join`')
    .option('-y, --yes', 'do not ask')
    .action(async (url, options) => exit(await leaveServer(url, options)));
  const machines = program
    .command('machines')
    .description('list, add, drain and remove the machines that run agents');
  const add = (name: string, options = {}) =>
    withServerOptions(withJsonOption(machines.command(name, options)));
  add('list', { isDefault: true })
    .description('list the joined machines and their load')
    .action(listMachines);
  add('add')
    .description('create a one-time token for a machine to join with')
    .argument('<name>', 'name of the machine')
    .option(
      '--label <name=value>',
      'label for sessions that ask for it with `belay run --on` (repeatable)',
      several,
    )
    .action(addMachine);
  add('drain')
    .description('begin no more sessions on a machine, and move those that run there')
    .argument('<name>', 'name or id of a machine')
    .action(async (name, options) => exit(await drainMachine(name, options)));
  add('use')
    .description('let a drained machine take sessions again')
    .argument('<name>', 'name or id of a machine')
    .action(useMachine);
  add('remove')
    .description('remove a machine and end its agents')
    .argument('<name>', 'name or id of a machine')
    .option('-y, --yes', 'do not ask')
    .action(async (name, options) => exit(await removeMachine(name, options)));
}
