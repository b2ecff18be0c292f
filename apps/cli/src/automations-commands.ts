import type { Command } from 'commander';
import {
  addAutomation,
  cancelRun,
  editAutomation,
  makeUrlSecret,
  pauseAutomation,
  removeAutomation,
  resetLane,
  resumeAutomation,
  runAutomation,
} from './commands/change-automations.js';
import {
  listAutomationJobs,
  listAutomations,
  listLanes,
  printHistory,
  showAutomation,
} from './commands/list-automations.js';
import { checkDefinition, printNextTimes } from './commands/check-definition.js';
import { listDeliveries } from './commands/list-deliveries.js';
import { explainRun } from './commands/explain-run.js';
import { connectSource, disconnectSource, listSources } from './commands/forge-sources.js';
import { wholeNumber } from './options.js';
import { withJsonOption, withServerOptions } from './server-options.js';

const automationArgument = ['<automation>', 'name of an automation'] as const;
const runArgument = ['<run>', 'id of a run; see belay automations history'] as const;
const sourceArgument = ['<source>', 'HOST/REPOSITORY, such as github.com/acme/api'] as const;

type Add = (name: string, options?: { isDefault?: boolean }) => Command;

/** `belay automations`: what begins sessions by itself. */
export function addAutomationsCommands(program: Command, exit: (code: number) => void): void {
  const automations = program
    .command('automations')
    .description('let events, times and requests begin sessions')
    .addHelpText('after', automationsText);
  const add: Add = (name, options = {}) =>
    withServerOptions(withJsonOption(automations.command(name, options)));
  addReading(add);
  addDefinitions(add, exit);
  addRunning(add, exit);
  addSources(add, exit);
}

function addReading(add: Add): void {
  add('list', { isDefault: true })
    .description('list the automations with their latest runs, newest last, and their money')
    .action(listAutomations);
  add('show')
    .description('print what an automation does and what came of it')
    .argument(...automationArgument)
    .option('--yaml', 'print its definition as YAML')
    .action(showAutomation);
  add('history')
    .description('list the runs of an automation and the decisions against one, newest first')
    .argument(...automationArgument)
    .option('-n, --limit <n>', 'number of runs', wholeNumber, 30)
    .action(printHistory);
  add('deliveries')
    .description('list what was learned of for an automation and what became of it, newest first')
    .argument(...automationArgument)
    .option('-n, --limit <n>', 'number of deliveries', wholeNumber, 30)
    .action(listDeliveries);
  add('explain')
    .description('tell why a run is as it is: what happened, who, what was decided and sent')
    .argument(...runArgument)
    .action(explainRun);
  add('lanes')
    .description('list the lanes that are running, stuck or have attempts')
    .argument(...automationArgument)
    .action(listLanes);
  add('jobs').description('list definitions to begin with').action(listAutomationJobs);
}

function addDefinitions(add: Add, exit: (code: number) => void): void {
  add('add')
    .description('add an automation from a file, or from a job that comes with Belay')
    .argument('[file]', 'its definition in YAML or JSON; - reads it from standard input')
    .option('--job <name>', 'begin with this job; see belay automations jobs')
    .option('--repository <source>', 'with --job: HOST/REPOSITORY, such as github.com/acme/api')
    .option('--name <name>', 'with --job: another name')
    .action(async (file, options) => exit(await addAutomation(file, options)));
  add('edit')
    .description('change an automation in your editor (EDITOR), or replace it by a file')
    .argument(...automationArgument)
    .argument('[file]', 'its new definition; - reads it from standard input')
    .action(async (name, file, options) => exit(await editAutomation(name, file, options)));
  add('check')
    .description('check a definition without saving it; exits with 1 if something is wrong')
    .argument('<file>', 'definition in YAML or JSON; - reads it from standard input')
    .action(async (file, options) => exit(await checkDefinition(file, options)));
  add('next')
    .description('print the next times of a schedule')
    .argument('<automation>', 'name of an automation, or a file with a definition')
    .option('-n, --count <n>', 'number of times', wholeNumber, 10)
    .action(async (name, options) => exit(await printNextTimes(name, options)));
  add('remove')
    .description('remove an automation; its runs and their sessions stay')
    .argument(...automationArgument)
    .option('-y, --yes', 'do not ask')
    .action(async (name, options) => exit(await removeAutomation(name, options)));
}

function addRunning(add: Add, exit: (code: number) => void): void {
  add('run')
    .description('begin a run now')
    .argument(...automationArgument)
    .option('--number <n>', 'number of the issue or pull request', wholeNumber)
    .option('--branch <name>', 'branch to work on')
    .option('--delivery <id>', 'repeat what this delivery said; see belay automations deliveries')
    .option('--dry', 'decide, tell what would be done, and do nothing')
    .action(async (name, options) => exit(await runAutomation(name, options)));
  add('cancel')
    .description('cancel a run and stop its session')
    .argument(...runArgument)
    .action(cancelRun);
  add('pause')
    .description('begin no more runs; what runs goes on')
    .argument(...automationArgument)
    .action(pauseAutomation);
  add('resume')
    .description('switch an automation on again')
    .argument(...automationArgument)
    .action(resumeAutomation);
  add('reset')
    .description('let a stuck lane go on, with new attempts')
    .argument(...automationArgument)
    .argument('<lane>', 'its key; see belay automations lanes')
    .action(resetLane);
  add('secret')
    .description('make a new secret for the URL of an automation; the earlier one stops working')
    .argument(...automationArgument)
    .action(makeUrlSecret);
}

function addSources(add: Add, exit: (code: number) => void): void {
  add('sources').description('list the repositories whose events are followed').action(listSources);
  add('connect')
    .description('follow a repository, with a webhook where the server’s token may make one')
    .argument(...sourceArgument)
    .option('--trust-files', 'let .belay/automations/ of its default branch define automations')
    .action(connectSource);
  add('disconnect')
    .description('stop following a repository')
    .argument(...sourceArgument)
    .option('-y, --yes', 'do not ask')
    .action(async (source, options) => exit(await disconnectSource(source, options)));
}

const automationsText = `
Examples:
  belay automations check fix-issue.yaml
  belay automations add --job fix-issue --repository github.com/acme/api
  belay automations connect github.com/acme/api
  belay automations run fix-issue --number 12 --dry
  belay automations history fix-issue`;
