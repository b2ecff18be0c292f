import { Command, Option } from 'commander';
import { count, several } from './options.js';

/** Loaded when they are asked for: other commands need no engine. */
const commands = () => import('./commands/eval.js');

/** `belay eval …`: benchmark runs. */
export function evalCommand(exit: (code: number) => void): Command {
  const program = new Command('eval')
    .description('run benchmarks without a person')
    .showHelpAfterError('(--help lists what there is)')
    .exitOverride();
  addRun(program, exit);
  const onRun = (name: string, what: string, act: 'evalResume' | 'evalRegrade' | 'evalPreflight') =>
    withServer(program.command(name))
      .description(what)
      .argument('<folder>', 'the results of a run')
      .action(async (folder, options) => exit(await (await commands())[act](folder, options)));
  onRun('resume', 'run what is missing', 'evalResume');
  onRun('regrade', 'verify again what was handed in; no model is called', 'evalRegrade');
  onRun(
    'preflight',
    'check the tasks with the reference solution and with nothing',
    'evalPreflight',
  );
  program
    .command('report')
    .description('write the summary and the page again')
    .argument('<folder>')
    .action(async (folder) => (await commands()).evalReport(folder));
  program
    .command('compare')
    .description('compare two runs task by task')
    .argument('<a>')
    .argument('<b>')
    .option('--json', 'print JSON')
    .action(async (a, b, options) => (await commands()).evalCompare(a, b, options));
  return program;
}

const withServer = (command: Command): Command =>
  command.option('--url <url>', 'the server: its board, and where the agent `model` works');

function addRun(program: Command, exit: (code: number) => void): void {
  withServer(program.command('run'))
    .description('run the tasks of a suite with an agent')
    .argument('<suite>', 'human-eval, mbpp, polyglot, terminal-bench, harbor or swe-bench')
    .requiredOption('--data <path>', 'the suite’s data')
    .option('--agent <agent>', 'oracle, nop, model, command:LINE or predictions:FILE', 'model')
    .option('-m, --model <model>', 'provider:model, for the agent `model`')
    .option('--tasks <ids>', 'only these, with commas between')
    .option('--sample <n>', 'only so many, chosen by --seed', count)
    .option('--seed <n>', 'decides the sample', Number, 1)
    .option('--attempts <k>', 'attempts at each task', count, 1)
    .option('--concurrency <n>', 'trials at once, if processors and memory suffice', count, 2)
    .option('-o, --out <folder>', 'results (default: a new folder in eval-results)')
    .option(
      '--preflight',
      'first check tasks that were never checked, with the solution and with nothing (no model)',
    )
    .option('--from-map <name=image>', 'a local image for FROM lines; * matches', several)
    .option('--timeout-multiplier <n>', 'times every limit, for a slow machine', Number, 1)
    .option('--repos <folder>', 'clones of repositories, for tasks whose image is not here')
    .option('--base-image <image>', 'what helper images are made from (default: the sandbox’s)')
    .addOption(
      new Option('--network <mode>', 'what containers of tasks may reach')
        .choices(['none', 'declared'])
        .default('none'),
    )
    .action(async (suite, { data, ...options }) =>
      exit(await (await commands()).evalRun(suite, { ...options, suiteData: data })),
    );
}
