import type { Command } from 'commander';
import { listKeys, revokeKey, rotateKey } from './commands/keys.js';
import { withJsonOption, withServerOptions } from './server-options.js';

/** `belay keys`: what others verify a server’s statements with. */
export function addProofCommands(program: Command): void {
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
