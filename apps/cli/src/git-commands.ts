import { gitHostKind, publishAllowance } from '@belay/protocol';
import { Option, type Command } from 'commander';
import { listGitHosts, removeGitHost, setGitHost, testGitHost } from './commands/git-hosts.js';
import { publishSession } from './commands/publish.js';
import { sessionArgument, withJsonOption, withServerOptions } from './server-options.js';

/** `belay publish`, and `belay git` for the hosts that it pushes to. */
export function addGitCommands(program: Command): void {
  withServerOptions(withJsonOption(program.command('publish')))
    .description('show the changes of a session, then push them to a branch of a git host')
    .argument(...sessionArgument)
    .requiredOption('-b, --branch <name>', 'branch to push to; created if it does not exist')
    .option('-m, --message <text>', 'commit message (default: drafted by the model)')
    .option(
      '--pr [title]',
      'open a pull or merge request (default title: the first line of the message)',
    )
    .option('--draft', 'open it as a draft')
    .option(
      '--base <name>',
      'branch to start from and to merge into (default: the one that was cloned)',
    )
    .option('--to <url>', 'URL of the repository (default: the one that was cloned)')
    .addOption(
      new Option('--allow <what...>', 'allow what is refused by default').choices(
        publishAllowance.options,
      ),
    )
    .option(
      '--reproduce <command>',
      'command line of a test that is run again before the push, before the change and with it',
    )
    .option('--test-file <path...>', 'test files of the change that it needs')
    .option('--expect <text>', 'what it prints where it fails: the reason, not just “failed”')
    .option('--dry-run', 'only show what would be pushed')
    .option('-y, --yes', 'push without asking')
    .action(publishSession);
  const git = program
    .command('git')
    .description('manage the git hosts that the server clones from and pushes to');
  withServerOptions(withJsonOption(git.command('list', { isDefault: true })))
    .description('list the git hosts')
    .action(listGitHosts);
  withServerOptions(git.command('set'))
    .description('set up a git host; omitted settings stay unchanged')
    .argument(
      '<host>',
      'host name, with its port if that is not the default, such as git.example.com:8443',
    )
    .option('--token', 'ask for the token, or read it from standard input')
    .option('--no-token', 'remove the token')
    .addOption(
      new Option('--kind <kind>', 'API of the host, for pull requests').choices(
        gitHostKind.options,
      ),
    )
    .option('--api <url>', 'URL of its API, if it is not the usual one')
    .option('--user <name>', 'user name to send with the token, for hosts that need one')
    .addOption(new Option('--scope <scope>', 'who may use the token').choices(['operate', 'admin']))
    .option('--private', 'allow the host to be in a private network or on this machine')
    .option('--no-private', 'the host is public')
    .option('--insecure', 'use HTTP without TLS')
    .option('--no-insecure', 'use HTTPS')
    .action(setGitHost);
  withServerOptions(git.command('test'))
    .description('check the token of a git host and print its user')
    .argument('<host>', 'name of a git host')
    .action(testGitHost);
  withServerOptions(git.command('remove'))
    .description('remove a git host and its token')
    .argument('<host>', 'name of a git host')
    .action(removeGitHost);
}
