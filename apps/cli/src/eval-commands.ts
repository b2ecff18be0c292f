import { Option, type Command } from 'commander';
import { aboveZero, dollarAmount, integer, limit, wholeNumber, several } from './options.js';
import { withJsonOption } from './server-options.js';

/** Loaded on demand: other commands need no container engine. */
const commands = () => import('./commands/eval.js');

/** `belay eval …`: benchmark runs. */
export function addEvalCommands(to: Command, exit: (code: number) => void): void {
  const program = to.command('eval').description('run benchmarks');
  addRun(program, exit);
  const onRun = (name: string, what: string, act: 'evalRegrade' | 'evalPreflight') =>
    withServer(program.command(name))
      .description(what)
      .argument('<folder>', 'results folder of a run')
      .action(async (folder, options) => exit(await (await commands())[act](folder, options)));
  withServer(program.command('resume'))
    .description('run the trials that a run is still missing')
    .argument('<folder>', 'results folder of a run')
    .option(...maxDollars)
    .action(async (folder, options) => exit(await (await commands()).evalResume(folder, options)));
  onRun('regrade', 'verify the stored artifacts again; calls no model', 'evalRegrade');
  onRun(
    'preflight',
    'check each task with its reference solution and with no change',
    'evalPreflight',
  );
  program
    .command('report')
    .description('write the summary and the report of a run again')
    .argument('<folder>', 'results folder of a run')
    .option('--json', 'print the summary as JSON')
    .action(async (folder, options) => (await commands()).evalReport(folder, options));
  withJsonOption(program.command('data'))
    .description('find the suites that read these files or folders')
    .argument('<paths...>', 'files or folders with the data of suites')
    .action(async (paths, options) => (await commands()).evalData(paths, options));
  program
    .command('compare')
    .description('compare two runs task by task')
    .argument('<a>', 'results folder of the baseline')
    .argument('<b>', 'results folder to compare with the baseline')
    .option('--json', 'print JSON')
    .action(async (a, b, options) => (await commands()).evalCompare(a, b, options));
}

const maxDollars = [
  '--max-dollars <amount>',
  'start no more trials once they have cost this much, in US dollars; `none` for no limit',
  limit(dollarAmount),
] as const;

const withServer = (command: Command): Command =>
  command.option(
    '--url <url>',
    'URL of the server, for the live board and the agents `model` and agent:NAME',
  );

function addRun(program: Command, exit: (code: number) => void): void {
  withServer(program.command('run'))
    .description('run the tasks of a suite with an agent')
    .argument('<suite>', 'human-eval, mbpp, polyglot, terminal-bench, harbor or swe-bench')
    .requiredOption('--data <path>', 'file or folder with the data of the suite')
    .option(
      '--agent <agent>',
      'oracle, nop, model, agent:NAME, command:LINE or predictions:FILE',
      'model',
    )
    .option('-m, --model <model>', 'provider:model, for the agents `model` and agent:NAME')
    .option('--tasks <ids>', 'only these tasks, comma-separated')
    .option('--sample <n>', 'only this many tasks, chosen by --seed', wholeNumber)
    .option('--seed <n>', 'seed of the sample', integer, 1)
    .option('--attempts <k>', 'attempts per task', wholeNumber, 1)
    .option(
      '--concurrency <n>',
      'maximum number of parallel trials, as CPUs and memory allow',
      wholeNumber,
      2,
    )
    .option(
      '--places <names>',
      'where trials run: all, this-machine, this-server (its cluster), or names of joined machines, comma-separated',
      'all',
    )
    .option(
      '--session-label <name=value>',
      'label of the places where the sessions of the agents `model` and agent:NAME may run (repeatable)',
      several,
    )
    .option(...maxDollars)
    .option('-o, --out <folder>', 'results folder (default: a new one in eval-results)')
    .option(
      '--preflight',
      'first check unchecked tasks with the reference solution and with no change; calls no model',
    )
    .option(
      '--from-map <name=image>',
      'local image for FROM lines; * is a wildcard (repeatable)',
      several,
    )
    .option(
      '--timeout-multiplier <n>',
      'factor for all time limits, for slow machines',
      aboveZero,
      1,
    )
    .option(
      '--repos <folder>',
      'folder with clones of repositories, for tasks without a local image',
    )
    .option('--base-image <image>', 'base image for helper images (default: the sandbox image)')
    // For the server, which shows a run before its process has reported it.
    .addOption(new Option('--board-id <id>').hideHelp())
    .addOption(
      new Option('--network <mode>', 'network of task containers')
        .choices(['none', 'declared'])
        .default('none'),
    )
    .addOption(
      new Option('--build-network <mode>', 'network while task Dockerfiles are built')
        .choices(['default', 'none'])
        .default('default'),
    )
    .action(async (suite, { data, ...options }) =>
      exit(await (await commands()).evalRun(suite, { ...options, suiteData: data })),
    );
}
