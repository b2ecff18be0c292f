import type { Command } from 'commander';

export const sessionArgument = [
  '<session>',
  'session id, a prefix of either half of it, or `last` for the newest session',
] as const;

export const withJsonOption = (command: Command, what = 'print JSON'): Command =>
  command.option('--json', what);

export const withServerOptions = (command: Command): Command =>
  command
    .optionsGroup('Server:')
    .option(
      '--url <url>',
      'URL of a server (or BELAY_URL, with BELAY_TOKEN); default: the local one',
    )
    .option('--data <folder>', 'data folder of the local server')
    .optionsGroup('Options:');
