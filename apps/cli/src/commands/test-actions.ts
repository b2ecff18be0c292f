import { AppError, type InstalledAction } from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { clientFor, type PrintOptions } from '../connection.js';
import { outputTo, singleLine, type LineOutput } from '../output.js';

type Example = InstalledAction['manifest']['examples'][number];

/** `belay actions test`: runs the examples; resolves to 1 if one fails. */
export async function testActions(
  names: readonly string[],
  options: PrintOptions & { all?: boolean },
): Promise<number> {
  if (names.length === 0 && !options.all)
    throw new AppError('invalid_input', 'Name the actions to test, or use --all.');
  const client = clientFor(options);
  const actions = options.all
    ? (await client.actions.list()).filter(({ kind }) => kind === 'action')
    : await Promise.all(names.map((name) => client.actions.read(name)));
  const output = outputTo(process.stdout);
  const results: { name: string; example: string; fault: string | null }[] = [];
  for (const action of actions) {
    if (action.manifest.examples.length === 0)
      outputTo(process.stderr).line(`${action.name} has no examples.`);
    for (const example of action.manifest.examples) {
      const result = {
        name: action.name,
        example: example.title ?? JSON.stringify(example.input),
        fault: await faultOf(client, action.name, example),
      };
      results.push(result);
      if (!options.json) show(result, output);
    }
  }
  if (options.json) output.json(results);
  return results.some(({ fault }) => fault !== null) ? 1 : 0;
}

/** Why an example fails, as a sentence. */
async function faultOf(
  client: BelayClient,
  name: string,
  { input, contains }: Example,
): Promise<string | null> {
  try {
    const { text, structured, exitCode, errors } = await client.actionCalls.call(name, input);
    // JSON output is only in `structured`.
    const printed = text || (JSON.stringify(structured, null, 2) ?? '');
    if (exitCode !== 0) return `It ended with code ${exitCode}: ${singleLine(errors, 300)}`;
    if (contains === undefined || printed.includes(contains)) return null;
    return `Its output lacks “${contains}”: ${singleLine(printed, 300)}`;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

function show(
  { name, example, fault }: { name: string; example: string; fault: string | null },
  output: LineOutput,
): void {
  const sign = fault === null ? output.style('green', '✓') : output.style('red', '✗');
  output.line(`${sign} ${name}: ${singleLine(example)}`);
  if (fault !== null) output.line(`  ${singleLine(fault, Infinity)}`);
}
