import { scope } from '@belay/protocol';
import { Option, type Command } from 'commander';
import { printAudit } from './commands/audit.js';
import { createToken, listTokens, revokeToken, rotateToken } from './commands/tokens.js';
import { addUser, changePassword, changeUser, listUsers, removeUser } from './commands/users.js';
import { wholeNumber, expiry, several } from './options.js';
import { withJsonOption, withServerOptions } from './server-options.js';

/** `belay tokens`, `belay users` and `belay audit`: access rights, and a record of their use. */
export function addAccessCommands(program: Command): void {
  addTokens(program);
  addUsers(program);
  withServerOptions(withJsonOption(program.command('audit')))
    .description('print the audit log, newest first: who changed what, and who was refused')
    .option('--session <id>', 'only entries of this session')
    .option('--caller <id>', 'only entries of this caller: owner, viewer, token:ID or user:ID')
    .option('-n, --lines <n>', 'number of entries', wholeNumber, 50)
    .action(printAudit);
}

const scopeOption = () =>
  new Option(
    '--scope <scope>',
    'view can watch, operate can also start and steer sessions, admin can manage everything',
  ).choices(scope.options);

function addTokens(program: Command): void {
  const tokens = group(program, 'tokens', 'manage access tokens for programs and other people');
  withServerOptions(withJsonOption(tokens.command('list', { isDefault: true })))
    .description('list tokens, newest first')
    .action(listTokens);
  withServerOptions(withJsonOption(tokens.command('create')))
    .description('create a token and print it; it is shown only once')
    .addOption(scopeOption().makeOptionMandatory())
    .option(
      '--session <id>',
      'only this session, or `own` for the sessions that it starts itself (repeatable)',
      several,
    )
    .option(
      '--expires <when>',
      'when it expires: 12h, 30d, or a date such as 2027-01-31 (default: never)',
      expiry,
    )
    .requiredOption('--label <text>', 'what will use it')
    .optionsGroup('Sessions that it starts, unless they choose themselves:')
    .option('--machine <name>', 'run them on this joined machine')
    .option('--image <name>', 'run them in this image')
    .option('--root', 'let their programs be root in the sandbox')
    .action(createToken);
  withServerOptions(withJsonOption(tokens.command('rotate')))
    .description('replace the secret of a token and print it; the old one stops working at once')
    .argument('<token>', 'id of a token, or owner or viewer for the server’s own tokens')
    .action(rotateToken);
  withServerOptions(tokens.command('revoke'))
    .description('revoke a token at once and close its connections')
    .argument('<token>', 'id of a token')
    .action(revokeToken);
}

function addUsers(program: Command): void {
  const users = group(program, 'users', 'manage the users of a team, who log in with a password');
  withServerOptions(withJsonOption(users.command('list', { isDefault: true })))
    .description('list users')
    .action(listUsers);
  withServerOptions(users.command('add'))
    .description('add a user; prompts for the password, or reads it from standard input')
    .argument('<name>', 'name to log in with')
    .addOption(scopeOption().makeOptionMandatory())
    .action(addUser);
  withServerOptions(users.command('set'))
    .description('change the scope or the password of a user, who must then log in again')
    .argument('<name>', 'name of a user')
    .addOption(scopeOption())
    .option('--password', 'prompt for a new password, or read it from standard input')
    .action(changeUser);
  withServerOptions(users.command('password'))
    .description(
      'change your own password; prompts for the old and the new one, or reads them from standard input, one per line',
    )
    .argument('<name>', 'your name')
    .action(changePassword);
  withServerOptions(users.command('remove'))
    .description('remove a user and close their connections at once')
    .argument('<name>', 'name of a user')
    .action(removeUser);
}

const group = (program: Command, name: string, what: string): Command =>
  program.command(name).description(what);
