import {
  isEnded,
  numberText,
  pluralText,
  visibleText,
  type OperationOutput,
  type PromptPart,
} from '@belay/protocol';
import { clientFor, findSession, type PrintOptions } from '../connection.js';
import { outputTo, type LineOutput } from '../output.js';

type Prompt = OperationOutput<'session.prompt'>;

/** `belay debug prompt`: the prompt of the next model call; starts the sandbox of an ended session. */
export async function printPrompt(
  name: string,
  options: PrintOptions & { summary?: boolean },
): Promise<void> {
  const output = outputTo(process.stdout);
  const client = clientFor(options);
  const { id, state, contextTokens } = await findSession(client, name);
  if (isEnded(state)) await client.sessions.wake(id);
  const prompt = await client.sessions.call(id, 'session.prompt', {});
  if (options.json) return output.json(prompt, 2);
  if (!options.summary) {
    for (const { kind, name: part, text, tokens } of prompt.parts) {
      output.line(
        output.style('bold', `── ${titles[kind]}: ${part}, ${pluralText(tokens, 'token')}`),
      );
      output.line(`${visibleText(text)}\n`);
    }
  }
  printTotals(output, prompt);
  if (contextTokens > 0)
    output.line(`The provider counted ${pluralText(contextTokens, 'token')} in the last prompt.`);
}

const titles: Record<PromptPart['kind'], string> = {
  system: 'System message',
  guidance: 'Guidance',
  tool: 'Tool',
  history: 'Message',
};

const lists: Record<PromptPart['kind'], string> = {
  system: 'System message',
  guidance: 'Guidance',
  tool: 'Tools',
  history: 'History',
};

function printTotals(output: LineOutput, { parts, tokens }: Prompt): void {
  output.line(output.style('bold', 'Estimated tokens, at four characters each:'));
  for (const kind of ['system', 'guidance', 'tool', 'history'] as const) {
    const own = parts.filter((part) => part.kind === kind);
    output.line(
      row(
        own.reduce((sum, part) => sum + part.tokens, 0),
        lists[kind],
      ),
    );
    // The messages themselves are printed above.
    if (kind === 'history') continue;
    for (const part of own) output.line(`    ${row(part.tokens, part.name)}`);
  }
  output.line(row(tokens, 'Total'));
}

const row = (tokens: number, name: string): string => `${numberText(tokens).padStart(9)}  ${name}`;
