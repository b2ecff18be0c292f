import { Command } from 'commander';
import { attach } from './commands/attach.js';
import { doctor } from './commands/doctor.js';
import { openDashboard } from './commands/open.js';
import { printPatch } from './commands/patch.js';
import { runSession } from './commands/run.js';
import { settings } from './commands/settings.js';
import { listSessions, printLog, stopSession } from './commands/sessions.js';
import { evalCommand } from './eval-program.js';
import { names, port } from './options.js';
import { withOwnSettings } from './own-settings.js';

/** The commands of `belay`; `exit` is called with the code of those that have one. */
export function createProgram(exit: (code: number) => void): Command {
  const program = new Command('belay')
    .description('AI coding agents, each in a container of its own.')
    .showHelpAfterError('(belay --help lists the commands)')
    .version('0.1.0');
  addRun(program, exit);
  withServer(program.command('attach'))
    .description('follow a session that runs, and answer what it asks; Ctrl-C leaves it alone')
    .argument('<session>')
    .option('--json', 'print one JSON event per line')
    .action(async (session, options) => exit(await attach(session, options)));
  withServer(program.command('open'))
    .description('print the dashboard’s address with its token, and open it')
    .argument('[session]')
    .action(openDashboard);
  withServer(program.command('doctor'))
    .description('check Docker, images, data folder, port and keys, each with its remedy')
    .option('--port <n>', 'the port that the server would use', port, 4600)
    .option('--json', 'print JSON')
    .action(async (options) => exit((await doctor(options)) ? 0 : 1));
  withServer(program.command('list'))
    .description('list the sessions')
    .option('--json', 'print JSON')
    .action(listSessions);
  withServer(program.command('log'))
    .description('print the log of a session')
    .argument('<session>')
    .option('--follow', 'go on until it ends')
    .option('--json', 'print one JSON event per line')
    .action(printLog);
  withServer(program.command('patch'))
    .description('print what a session changed, as a patch for git apply')
    .argument('<session>')
    .option('-o, --output <file>', 'write it to a file')
    .action(printPatch);
  withServer(program.command('stop'))
    .description('stop a session; log, files and history stay')
    .argument('<session>')
    .action(stopSession);
  withOwnSettings(withServer(program.command('settings')))
    .description('print what new sessions begin with, after setting what is given')
    .option('--json', 'print JSON')
    .action(settings);
  program.addCommand(evalCommand(exit));
  return program;
}

const withServer = (command: Command): Command =>
  command
    .option('--url <url>', 'the server (default: the one that runs here, or BELAY_URL)')
    .option('--data <folder>', 'the data folder of the server that runs here');

function addRun(program: Command, exit: (code: number) => void): void {
  withOwnSettings(withServer(program.command('run')))
    .description('run one task to its end and take its patch')
    .argument('[task]', 'what to do')
    .option(
      '-m, --model <model>',
      'provider:model, scripted:FILE or cassette:FILE (or BELAY_MODEL)',
    )
    .option('-w, --workspace <folder>', 'copied in: tracked and unignored files, with git history')
    .option('--example <name>', 'play an example that comes with Belay')
    .option('--image <image>', 'the Docker image of the sandbox')
    .option('--root', 'a sandbox in which system packages can be installed')
    .option('--title <title>', 'what the dashboard calls it')
    .option('--json', 'print one JSON event per line')
    .option('--patch <file>', 'write what changed as a patch')
    .option('--apply', 'apply what changed to the workspace folder')
    .option('--trust', 'let AGENTS.md and skills of the workspace guide the agent')
    .option('--mcp <names>', 'MCP servers, joined by commas (default: all that are on)', names)
    .option('--no-mcp', 'no MCP server')
    .addHelpText('after', exitText)
    .action(async (task, options) => exit(await runSession(task, options)));
}

const exitText = `
Exit codes: 0 finished · 1 failed · 2 usage · 3 a limit was hit · 4 needs a person · 130 interrupted`;
