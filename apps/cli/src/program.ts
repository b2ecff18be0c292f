import { agentProtocol, belayVersion } from '@belay/protocol';
import { Command, Option } from 'commander';
import { approve } from './commands/approve.js';
import { attach } from './commands/attach.js';
import { printPrompt } from './commands/print-prompt.js';
import { serveAcp } from './commands/acp.js';
import { serveMcp } from './commands/mcp.js';
import { doctor } from './commands/doctor.js';
import { exportSession } from './commands/export.js';
import { forkSession } from './commands/fork.js';
import { importSession } from './commands/import.js';
import { openDashboard } from './commands/open.js';
import { openPreview } from './commands/preview.js';
import { writePatch } from './commands/patch.js';
import { runSession } from './commands/run.js';
import { changeSettings } from './commands/settings.js';
import { down, status, up } from './commands/up.js';
import { listSessions, printLog, stopSession } from './commands/sessions.js';
import { addActionsCommands } from './actions-commands.js';
import { addAgentsCommands } from './agents-commands.js';
import { addAccessCommands } from './access-commands.js';
import { addAutomationsCommands } from './automations-commands.js';
import { addCompletion } from './completion.js';
import { addGitCommands } from './git-commands.js';
import { addEvalCommands } from './eval-commands.js';
import { addMachinesCommands } from './machines-commands.js';
import { agentsWithModels, wholeNumber, names, port, several } from './options.js';
import { withOwnSettings } from './own-settings.js';
import { addProofCommands } from './proof-commands.js';
import { addTemplatesCommands } from './templates-commands.js';
import {
  acceptServerOptionsFirst,
  sessionArgument,
  withJsonOption,
  withServerOptions,
} from './server-options.js';

/** The commands of `belay`; `exit` is called with the code of those that have one. */
export function createProgram(exit: (code: number) => void): Command {
  const program = new Command('belay')
    .description('AI coding agents, each in a container of its own.')
    .exitOverride()
    .showHelpAfterError('Run the command with --help for its usage.')
    .version(belayVersion, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', programText);
  acceptServerOptionsFirst(program);
  addRun(program, exit);
  addSessions(program, exit);
  addLocalServer(program, exit);
  withServerOptions(withJsonOption(program.command('doctor')))
    .description('check Docker, images, data folder, port and keys; print how to fix what fails')
    .option('--port <n>', 'port that the server would use', port, 4600)
    .action(async (options) => exit((await doctor(options)) ? 0 : 1));
  withServerOptions(withOwnSettings(withJsonOption(program.command('settings'))))
    .description('change the defaults for new sessions with these options, then print them')
    .action(changeSettings);
  addGitCommands(program);
  addTemplatesCommands(program);
  addAutomationsCommands(program, exit);
  addActionsCommands(program, exit);
  addAgentsCommands(program, exit);
  addAccessCommands(program);
  addProofCommands(program, exit);
  withServerOptions(program.command('acp'))
    .description('serve ACP on standard input and output, for editors that start agents')
    .option('-m, --model <model>', 'provider:model of new sessions (or BELAY_MODEL)')
    .option('--no-apply', 'leave the editor’s folder unchanged; get the changes with belay patch')
    .action(serveAcp);
  withServerOptions(program.command('mcp'))
    .description('serve MCP on standard input and output, for clients that start MCP servers')
    .action(serveMcp);
  addDebug(program);
  addMachinesCommands(program, exit);
  addEvalCommands(program, exit);
  addCompletion(program);
  return program;
}

function addLog(program: Command): void {
  withServerOptions(withJsonOption(program.command('log'), 'print one JSON event per line'))
    .description('print the log of a session')
    .argument(...sessionArgument)
    .option('-f, --follow', 'keep printing until the session ends')
    .addOption(
      new Option(
        '--chain',
        'print the log as it is stored, with its digests, for belay verify',
      ).conflicts(['follow', 'json']),
    )
    .addOption(
      new Option(
        '--hide-contents',
        'with --chain: only the digests of what the events contain',
      ).implies({ chain: true }),
    )
    .action(printLog);
}

function addSessions(program: Command, exit: (code: number) => void): void {
  withServerOptions(withJsonOption(program.command('attach'), 'print one JSON event per line'))
    .description('follow a session and answer its questions; Ctrl-C detaches, it keeps running')
    .argument(...sessionArgument)
    .option('--plain', 'print the session line by line, even at a terminal')
    .action(async (name, options) => exit(await attach(name, options)));
  withServerOptions(withJsonOption(program.command('say'), 'print one JSON event per line'))
    .description('send a message to a session, running or ended, and follow it')
    .argument(...sessionArgument)
    .argument('<text>', 'the message')
    .option('--next', 'deliver it with the next results instead of at the end of the turn')
    .option('--steer', 'deliver it at once: what the agent is about to do is skipped')
    .action(async (name, text, { next, steer, ...options }) => {
      const delivery = steer ? 'steer' : next ? 'next' : 'queue';
      exit(await attach(name, options, { text, delivery }));
    });
  withServerOptions(withJsonOption(program.command('list')))
    .description('list sessions, newest first')
    .option('-a, --all', 'include archived sessions')
    .action(listSessions);
  addLog(program);
  withServerOptions(program.command('patch'))
    .description('print the changes of a session as a patch for git apply')
    .argument(...sessionArgument)
    .option('-o, --output <file>', 'write the patch to a file')
    .option('--apply <folder>', 'apply the patch to a folder instead of printing it')
    .action(writePatch);
  withServerOptions(withJsonOption(program.command('export'), 'print what was written as JSON'))
    .description('write the changes, the files or the history of a session to a file')
    .argument(...sessionArgument)
    .option(
      '--format <format>',
      'patch: the changes; zip, tar: the files; bundle: the git history; an agent: the conversation',
      'zip',
    )
    .option(
      '-o, --output <file>',
      'file to write, or - for standard output (default: belay-ID.FORMAT)',
    )
    .option('--cwd <folder>', 'folder in which that agent is to continue (default: this one)')
    .option('--commit <hash>', 'up to this commit of the history (default: the latest)')
    .action(exportSession);
  addImport(program);
  withServerOptions(withJsonOption(program.command('fork'), 'print the new session as JSON'))
    .description('create a session from the log and files of another one, up to an event')
    .argument(...sessionArgument)
    .option('--at <seq>', 'last event to keep (default: the newest)', wholeNumber)
    .option('-m, --model <model>', 'provider:model (default: the same)')
    .option('--agent <name>', 'agent that continues, such as belay (default: the same)')
    .option('--message <text>', 'message to start it with')
    .action(forkSession);
  withServerOptions(withJsonOption(program.command('approve')))
    .description('list pending approvals and questions, or answer the approvals of a session')
    .argument('[session]', sessionArgument[1])
    .argument('[call]', 'id of the approval, or a prefix of it')
    .option('--all', 'answer all pending approvals of the session')
    .option('--always', 'approve, and approve the same call in this session from now on')
    .addOption(new Option('--reject [reason]', 'reject instead of approving').conflicts('always'))
    .action(approve);
  withServerOptions(program.command('stop'))
    .description('stop a session; its log, files and history are kept')
    .argument(...sessionArgument)
    .action(stopSession);
  withServerOptions(program.command('open'))
    .description('print a URL that logs in once, and open it in a browser')
    .argument('[session]', sessionArgument[1])
    .option('--log-out', 'log out all browsers instead')
    .action(openDashboard);
  withServerOptions(program.command('preview'))
    .description('print a URL that shows what a session serves, and open it in a browser')
    .argument(...sessionArgument)
    .argument('[port]', 'port in the sandbox; required when programs listen on more than one', port)
    .option('--path <path>', 'path to open', '/')
    .action(openPreview);
}

function addImport(program: Command): void {
  const command = withJsonOption(program.command('import'), 'print the new session as JSON')
    .description('continue a conversation of another agent on this machine in a session')
    .argument('<file>', 'its transcript, or latest for the newest one about the workspace folder')
    .argument('[message]', 'message to continue with (default: the agent is told to go on)')
    .option('-w, --workspace <folder>', 'folder to copy in, as in belay run', '.')
    .option('--agent <name>', 'agent that continues, such as belay (default: the same)')
    .option('-m, --model <model>', 'provider:model (or BELAY_MODEL)')
    .option('--image <image>', 'Docker image of the sandbox')
    .option('--title <title>', 'title in the dashboard')
    .option('--trust', 'trust the settings for agents in the workspace');
  withServerOptions(withOwnSettings(command)).action(importSession);
}

function addLocalServer(program: Command, exit: (code: number) => void): void {
  const folder = ['--data <folder>', 'data folder of the server'] as const;
  withJsonOption(program.command('up'))
    .description('prepare this machine and start the server in the background')
    .option('--port <n>', 'port on 127.0.0.1 (default: BELAY_PORT, or 4600)', port)
    .option(...folder)
    .option('--no-install', 'do not install or start a Docker Engine')
    .addOption(
      new Option('--tunnel <kind>', 'make the server public through a tunnel, for ChatGPT').choices(
        ['ngrok'],
      ),
    )
    .action(async (options) => exit(await up(options)));
  withJsonOption(program.command('down'))
    .description('stop the server that `up` started; agents keep running')
    .option(...folder)
    .action(async (options) => exit(await down(options)));
  withJsonOption(program.command('status'))
    .description('print whether the server is running; exits with 5 if it is not')
    .option(...folder)
    .action(async (options) => exit(await status(options)));
}

function addDebug(program: Command): void {
  const debug = program.command('debug').description('inspect a session');
  withServerOptions(withJsonOption(debug.command('prompt')))
    .description('print the prompt of the next model call, with its tokens')
    .argument(...sessionArgument)
    .option('--summary', 'print only the tokens of each part')
    .action(printPrompt);
}

function addRun(program: Command, exit: (code: number) => void): void {
  const run = program
    .command('run')
    .description('run a task to its end and get its patch')
    .argument('[task]', 'the task; - reads it from standard input')
    .option(
      '-m, --model <model>',
      'provider:model, scripted:FILE or cassette:FILE (or BELAY_MODEL)',
    )
    .addOption(
      new Option(
        '--models <models>',
        'models to compare on the task, comma-separated; one session each',
      )
        .argParser(names)
        .conflicts('model'),
    )
    .addOption(
      new Option(
        '--agents <agents>',
        'agents to compare, comma-separated, each as NAME=PROVIDER:MODEL, or NAME for --model',
      )
        .argParser(agentsWithModels)
        .conflicts(['models', 'agent', 'agentProtocol', 'smallModel']),
    )
    .option('--runs <n>', 'number of sessions per model or agent', wholeNumber)
    .option('--agent <name>', 'agent to use instead of Belay’s own; see belay agents list')
    .addOption(
      new Option('--agent-protocol <protocol>', 'how that agent is driven').choices(
        agentProtocol.options,
      ),
    )
    .option('--small-model <model>', 'provider:model that the agent uses for small tasks')
    .option('--login', 'sign in to the agent yourself, with your subscription, in its terminal')
    .option('--check <command>', 'command that the server runs in the sandbox at the end')
    .option('--template <name>', 'start from this template; see belay templates')
    .option(
      '-w, --workspace <folder>',
      'folder to copy in: the files that git does not ignore, and the git history',
    )
    .addOption(
      new Option(
        '--clone <url>',
        'start from a clone of this repository, made by the server',
      ).conflicts(['workspace', 'example']),
    )
    .option('--branch <name>', 'branch or tag to clone (default: the default branch)')
    .option('--commit <id>', 'commit to clone, of the branch that --branch names if any')
    .option('--depth <n>', 'clone only this many commits of history (default: all)', wholeNumber)
    .option('--example <name>', 'run an example that comes with Belay')
    .option('--title <title>', 'title in the dashboard')
    .option('--plan-file [path]', 'keep the plan in this Markdown file (DevinPlan.md)')
    .option('--trust', 'trust AGENTS.md and skills in the workspace to guide the agent')
    .option('--model-for-programs', 'let programs in the sandbox call the model within the budgets')
    .option('--mcp <names>', 'MCP servers, comma-separated (default: all that are enabled)', names)
    .option('--no-mcp', 'do not use MCP servers')
    .option('--actions <names>', 'installed actions, comma-separated (default: all enabled)', names)
    .option('--no-actions', 'do not use installed actions')
    .optionsGroup('Output:')
    .option('--patch <file>', 'write the changes as a patch')
    .option('--apply', 'apply the changes to the workspace folder')
    .addOption(new Option('--json', 'print one JSON event per line').conflicts('quiet'))
    .option('-q, --quiet', 'print only the agent’s final message');
  withPlaceOptions(run);
  withServerOptions(withOwnSettings(run))
    .addHelpText('after', runText)
    .action(async (task, options) => exit(await runSession(task, options)));
}

/** Adds the options for the place of a session’s sandbox, and for what it has there. */
const withPlaceOptions = (command: Command): Command =>
  command
    .optionsGroup('Sandbox:')
    .addOption(
      new Option(
        '--machine <name>',
        'run on this joined machine (default: where there is most capacity)',
      ).conflicts('on'),
    )
    .option(
      '--on <label=value>',
      'run on a machine with this label; place=server for this server itself (repeatable)',
      several,
    )
    .option('--image <image>', 'Docker image of the sandbox')
    .option(
      '--mount <folder>',
      'folder of the server’s machine to mount at /mnt/NAME; add :ro for read-only (repeatable)',
      several,
    )
    .option('--root', 'run as root in the sandbox, to install system packages');

const programText = `
Examples:
  belay run --example fix-failing-test --approve auto
  belay run "Add a --verbose option and test it" --workspace . --apply
  belay say last "Now write the changelog"
  belay log last | less -R`;

const runText = `
Exit codes: 0 finished · 1 failed · 2 usage · 3 limit reached · 4 needs the user
            5 no server · 130 interrupted`;
