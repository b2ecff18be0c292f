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

/** Options that may also stand before the command, for every command that has them. */
const everywhere = ['url', 'data'];

/** Lets the options of the server stand before the command, as in `belay --url URL run`. */
export function acceptServerOptionsFirst(program: Command): void {
  withServerOptions(program)
    .enablePositionalOptions()
    .hook('preAction', (_, command) => {
      for (const name of everywhere) {
        const value: unknown = program.getOptionValue(name);
        if (value === undefined) continue;
        if (!command.options.some((option) => option.attributeName() === name)) {
          command.error(`error: ${command.name()} does not take the option --${name}`, {
            code: 'commander.unknownOption',
            exitCode: 1,
          });
        }
        if (command.getOptionValue(name) === undefined) command.setOptionValue(name, value);
      }
    });
}
