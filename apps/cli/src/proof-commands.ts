import { Option, type Command } from 'commander';
import { listKeys, revokeKey, rotateKey } from './commands/keys.js';
import { verifyStatement } from './commands/verify-statement.js';
import { withJsonOption, withServerOptions } from './server-options.js';

/** `belay verify`, and `belay keys` for what it trusts. */
export function addProofCommands(program: Command, exit: (code: number) => void): void {
  withServerOptions(withJsonOption(program.command('verify')))
    .description('check the signed statement about a published commit; exits with 0 if it holds')
    .argument(
      '<what>',
      'the address of a pull request, a commit of this repository, or a file with a signed statement',
    )
    .option('--repo <folder>', 'clone that has the commit', '.')
    .option('--keys <file>', 'keys that you trust, as belay-keys.json of their server has them')
    .addOption(
      new Option(
        '--trust <url>',
        'server whose keys you trust (default: the one you work with)',
      ).conflicts('keys'),
    )
    .option('--log <file>', 'check the log, too, as belay log SESSION --chain prints it')
    .option(
      '--trace [file]',
      'check the trace of lines, too: that of a file, or else the one that the server has',
    )
    .option('--rerun', 'have your server run the claims again, in fresh sandboxes')
    .action(async (what, options) => exit(await verifyStatement(what, options)));
  const keys = program
    .command('keys')
    .description('manage the keys with which the server signs statements about published changes');
  withServerOptions(withJsonOption(keys.command('list', { isDefault: true })))
    .description('list the keys, newest last; with --json as belay verify --keys reads them')
    .action(listKeys);
  withServerOptions(withJsonOption(keys.command('rotate')))
    .description('sign with a new key from now on; what earlier ones signed still holds')
    .action(rotateKey);
  withServerOptions(withJsonOption(keys.command('revoke')))
    .description('revoke a key that others may have: nothing that it signed holds any longer')
    .argument('<kid>', 'id of a key, or the beginning of it')
    .option('-y, --yes', 'revoke without asking')
    .action(revokeKey);
}
