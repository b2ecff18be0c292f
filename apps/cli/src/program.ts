import { Command, Option } from 'commander';
import { attach } from './commands/attach.js';
import { doctor } from './commands/doctor.js';
import { openDashboard } from './commands/open.js';
import { printPatch } from './commands/patch.js';
import { runSession } from './commands/run.js';
import { settings } from './commands/settings.js';
import { listSessions, printLog, stopSession } from './commands/sessions.js';
import { completionCommand } from './completion.js';
import { evalCommand } from './eval-program.js';
import { names, port } from './options.js';
import { withOwnSettings } from './own-settings.js';

/** The commands of `belay`; `exit` is called with the code of those that have one. */
export function createProgram(exit: (code: number) => void): Command {
  const program = new Command('belay')
    .description('AI coding agents, each in a container of its own.')
    .exitOverride()
    .showHelpAfterError('(--help lists what there is)')
    .version('0.1.0', '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this text')
    .addHelpText('after', programText);
  addRun(program, exit);
  addSessions(program, exit);
  withServer(withJson(program.command('doctor')))
    .description('check Docker, images, data folder, port and keys, each with its remedy')
    .option('--port <n>', 'the port that the server would use', port, 4600)
    .action(async (options) => exit((await doctor(options)) ? 0 : 1));
  withServer(withOwnSettings(withJson(program.command('settings'))))
    .description('print what new sessions begin with, after setting what is given')
    .action(settings);
  program.addCommand(evalCommand(exit));
  program.addCommand(completionCommand(program));
  return program;
}

const session = [
  '<session>',
  'its id, the first letters of it or of what follows the dash, or `last`',
] as const;

function addSessions(program: Command, exit: (code: number) => void): void {
  withServer(withJson(program.command('attach'), 'print one JSON event per line'))
    .description('follow a session and answer what it asks; Ctrl-C leaves it alone')
    .argument(...session)
    .action(async (name, options) => exit(await attach(name, options)));
  withServer(withJson(program.command('say'), 'print one JSON event per line'))
    .description('send a session a message, also one that has ended, and follow it')
    .argument(...session)
    .argument('<text>', 'what to say')
    .option('--steer', 'let the agent read it after the present call, not at its next turn')
    .action(async (name, text, { steer, ...options }) =>
      exit(await attach(name, options, { text, delivery: steer ? 'steer' : 'queue' })),
    );
  withServer(withJson(program.command('list')))
    .description('list the sessions, the newest first')
    .option('-a, --all', 'archived ones too')
    .action(listSessions);
  withServer(withJson(program.command('log'), 'print one JSON event per line'))
    .description('print the log of a session')
    .argument(...session)
    .option('-f, --follow', 'go on until it ends')
    .action(printLog);
  withServer(program.command('patch'))
    .description('print what a session changed, as a patch for git apply')
    .argument(...session)
    .option('-o, --output <file>', 'write it to a file')
    .action(printPatch);
  withServer(program.command('stop'))
    .description('stop a session; log, files and history stay')
    .argument(...session)
    .action(stopSession);
  withServer(program.command('open'))
    .description('print the dashboard’s address with its token, and open it')
    .argument('[session]', session[1])
    .action(openDashboard);
}

const withJson = (command: Command, what = 'print JSON'): Command => command.option('--json', what);

const withServer = (command: Command): Command =>
  command
    .optionsGroup('The server:')
    .option('--url <url>', 'another than the one that runs here (or BELAY_URL, with BELAY_TOKEN)')
    .option('--data <folder>', 'the data folder of the server that runs here')
    .optionsGroup('Options:');

function addRun(program: Command, exit: (code: number) => void): void {
  const run = program
    .command('run')
    .description('run one task to its end and take its patch')
    .argument('[task]', 'what to do; - reads it from standard input')
    .option(
      '-m, --model <model>',
      'provider:model, scripted:FILE or cassette:FILE (or BELAY_MODEL)',
    )
    .option('-w, --workspace <folder>', 'copied in: tracked and unignored files, with git history')
    .option('--example <name>', 'play an example that comes with Belay')
    .option('--title <title>', 'what the dashboard calls it')
    .option('--trust', 'let AGENTS.md and skills of the workspace guide the agent')
    .option('--mcp <names>', 'MCP servers, joined by commas (default: all that are on)', names)
    .option('--no-mcp', 'no MCP server')
    .optionsGroup('What comes out:')
    .option('--patch <file>', 'write what changed as a patch')
    .option('--apply', 'apply what changed to the workspace folder')
    .addOption(new Option('--json', 'print one JSON event per line').conflicts('quiet'))
    .option('-q, --quiet', 'print only the agent’s last words')
    .optionsGroup('The sandbox:')
    .option('--image <image>', 'its Docker image')
    .option('--root', 'one in which system packages can be installed');
  withServer(withOwnSettings(run))
    .addHelpText('after', runText)
    .action(async (task, options) => exit(await runSession(task, options)));
}

const programText = `
Examples:
  belay run --example fix-failing-test --approve auto
  belay run "Add a --verbose option and test it" --workspace . --apply
  belay say last "Now write the changelog"
  belay log last | less -R`;

const runText = `
Exit codes: 0 finished · 1 failed · 2 usage · 3 a limit was hit · 4 needs a person
            5 no server answers · 130 interrupted`;
