import {
  actionNamed,
  actionOutput,
  errorShape,
  mcpOutput,
  mcpToolNamed,
  runResultOf,
  bytesText,
  type Event,
  type EventArgs,
} from '@belay/protocol';
import { byOperation, on } from './by-operation';

/** The input of a call as readable text: commands and patches as they are, all else as JSON. */
export const readableInput = (event: Event): string => textOf(event) ?? jsonOf(event.args);

const textOf = byOperation<string>(
  on('terminal.run', ({ args }) => args.command),
  on('files.patch', ({ args }) => args.patch),
  on('files.write', ({ args }) => JSON.stringify(args)),
  on('files.edit', ({ args }) => JSON.stringify(args)),
);

/** The output of a call as readable text: its main text if it has one, otherwise JSON. */
export function readableOutput(result: EventArgs<'result'>): string {
  const { operation, ok, output } = result;
  if (!ok) return errorShape.safeParse(output).data?.message ?? jsonOf(output);
  const run = runResultOf(result);
  if (run) {
    const omitted = run.omittedBytes > 0 ? `\n[${bytesText(run.omittedBytes)} left out]` : '';
    return run.text.trimEnd() + omitted;
  }
  if (mcpToolNamed(operation)) return mcpText(output);
  if (actionNamed(operation) !== undefined) return actionText(output);
  return mainText(output)?.trimEnd() ?? jsonOf(output);
}

function mcpText(output: unknown): string {
  const { data } = mcpOutput.safeParse(output);
  if (!data) return jsonOf(output);
  const structured = data.structuredContent ? `\n${jsonOf(data.structuredContent)}` : '';
  return data.text.trimEnd() + structured;
}

/** An action’s output, with JSON indented, followed by its errors and a nonzero exit code. */
function actionText(output: unknown): string {
  const { data } = actionOutput.safeParse(output);
  if (!data) return jsonOf(output);
  const { text, structured, errors, exitCode } = data;
  const end = exitCode === 0 ? '' : `[exit code ${exitCode}]`;
  const printed = structured === undefined ? text.trimEnd() : jsonOf(structured);
  return [printed, errors, end].filter(Boolean).join('\n');
}

/** The text of a page or a file. */
function mainText(output: unknown): string | undefined {
  if (typeof output !== 'object' || output === null) return undefined;
  if ('text' in output && typeof output.text === 'string') return output.text;
  if ('content' in output && typeof output.content === 'string') return output.content;
  return undefined;
}

/** Truncated to `maxJson` characters; empty for an empty object. */
function jsonOf(value: unknown): string {
  const json = JSON.stringify(value, null, 2) ?? '';
  return json === '{}' ? '' : json.slice(0, maxJson);
}

const maxJson = 20_000;
