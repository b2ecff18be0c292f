import { AppError } from '@belay/protocol';
import { Argument, type Command, type Option } from 'commander';
import { clientFor } from './connection.js';
import { outputTo } from './output.js';

const shells = ['bash', 'zsh', 'fish'] as const;

/** `belay completion SHELL`: a shell script that calls `belay completion words` at each Tab. */
export function addCompletion(program: Command): void {
  const completion = program
    .command('completion')
    .description('print a shell completion script: source <(belay completion bash)')
    .addArgument(new Argument('<shell>').choices(shells))
    .action((shell: (typeof shells)[number]) => outputTo(process.stdout).line(scripts[shell]));
  completion
    .command('words', { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => {
      const found = await completions(program, words, {
        session: sessionNames,
        automation: automationNames,
      });
      for (const word of found) outputTo(process.stdout).line(word);
    });
}

/** What completes an argument, by the argument’s name. */
export type CompletedNames = Readonly<Record<'session' | 'automation', () => Promise<string[]>>>;

/**
 * Candidates for the last of `words`: commands, options and their choices, sessions, automations. If there are none, the shell
 * offers files.
 */
export async function completions(
  program: Command,
  words: string[],
  named: CompletedNames,
): Promise<string[]> {
  const typed = words.at(-1) ?? '';
  let command = program;
  let before: Option | undefined;
  for (const word of words.slice(0, -1)) {
    const inner = command.commands.find((each) => each.name() === word);
    before = command.options.find((option) => [option.short, option.long].includes(word));
    command = inner ?? command;
  }
  const fitting = (found: readonly string[]) => found.filter((word) => word.startsWith(typed));
  if (before?.required) return fitting(before.argChoices ?? []);
  if (typed.startsWith('-')) {
    const visible = command.options.filter(({ hidden }) => !hidden);
    return fitting(visible.map((option) => option.long ?? ''));
  }
  const [argument] = command.registeredArguments;
  if (argument?.name() === 'session') return fitting(['last', ...(await named.session())]);
  if (argument?.name() === 'automation') return fitting(await named.automation());
  const names = command.createHelp().visibleCommands(command);
  return fitting(argument?.argChoices ?? names.map((each) => each.name()));
}

const sessionNames = (): Promise<string[]> =>
  orNone(async () => (await clientFor({}).sessions.list()).map(({ id }) => id));

const automationNames = (): Promise<string[]> =>
  orNone(async () => (await clientFor({}).automations.list()).map(({ name }) => name));

async function orNone(names: () => Promise<string[]>): Promise<string[]> {
  try {
    return await names();
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}

const scripts = {
  bash: `_belay() {
  local IFS=$'\\n'
  COMPREPLY=($(belay completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _belay belay`,
  zsh: `#compdef belay
_belay() {
  local -a found
  found=(\${(f)"$(belay completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then compadd -a found; else _files; fi
}
compdef _belay belay`,
  fish: `complete -c belay -a '(belay completion words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`,
};
