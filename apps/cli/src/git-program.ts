import { gitHostKind, publishAllowance } from '@belay/protocol';
import { Option, type Command } from 'commander';
import { listGitHosts, removeGitHost, setGitHost, testGitHost } from './commands/git-hosts.js';
import { publishSession } from './commands/publish.js';
import { withJsonOption, withServerOptions } from './server-options.js';

/** `belay publish`, and `belay git` for the hosts that it pushes to. */
export function addGit(program: Command): void {
  withServerOptions(withJsonOption(program.command('publish')))
    .description('push the changes of a session to a branch of a git host; shows them first')
    .argument('<session>', 'session id, a prefix of either half of it, or `last` for the newest')
    .requiredOption('-b, --branch <name>', 'branch to push to; it is made when it is not there')
    .option('-m, --message <text>', 'message of the commit (default: one that the model drafts)')
    .option('--pr [title]', 'open a pull or merge request (title: the first line of the message)')
    .option('--draft', 'open it as a draft')
    .option('--base <name>', 'branch to begin from and to merge into (default: the one cloned)')
    .option('--to <url>', 'repository (default: the one that the session was cloned from)')
    .addOption(
      new Option('--allow <what...>', 'what is refused otherwise').choices(
        publishAllowance.options,
      ),
    )
    .option('--dry-run', 'only show what would be pushed')
    .option('-y, --yes', 'push without asking')
    .action(publishSession);
  const git = program
    .command('git')
    .description('git hosts that the server clones from and pushes to');
  withServerOptions(withJsonOption(git.command('list', { isDefault: true })))
    .description('list the git hosts that are set up')
    .action(listGitHosts);
  withServerOptions(git.command('set'))
    .description('set up a git host; what is omitted stays as it is')
    .argument('<host>', 'its name, with the port when that is unusual, as git.example.com:8443')
    .option('--token', 'ask for the token, or read it from standard input')
    .option('--no-token', 'remove the token')
    .addOption(
      new Option('--kind <kind>', 'whose API it speaks, for pull requests').choices(
        gitHostKind.options,
      ),
    )
    .option('--api <url>', 'address of its API where it is not the usual one')
    .option('--user <name>', 'user beside the token, for hosts that ask for one')
    .addOption(new Option('--scope <scope>', 'who may use the token').choices(['operate', 'admin']))
    .option('--private', 'it may be in a private network or on this machine')
    .option('--no-private', 'it is public')
    .option('--insecure', 'it uses HTTP without TLS')
    .option('--no-insecure', 'it uses HTTPS')
    .action(setGitHost);
  withServerOptions(git.command('test'))
    .description('ask a git host whose token it is')
    .argument('<host>', 'name of a git host')
    .action(testGitHost);
  withServerOptions(git.command('remove'))
    .description('remove a git host with its token')
    .argument('<host>', 'name of a git host')
    .action(removeGitHost);
}
