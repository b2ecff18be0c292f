import { actionNamed } from './action-operation.js';
import { actionOutput } from './actions.js';
import { runResultOf } from './calls.js';
import { errorShape } from './errors.js';
import type { EventArgs } from './events.js';
import { bytesText } from './format.js';
import { mcpOutput } from './mcp.js';
import { mcpToolNamed } from './mcp-operation.js';
import type { RunResult } from './operations/terminal.js';

type Outcome = Pick<EventArgs<'result'>, 'operation' | 'ok' | 'output'>;

/** The output of a call as readable text: its main text if it has one, otherwise JSON. */
export function readableOutput(result: Outcome): string {
  const { operation, ok, output } = result;
  if (!ok) return errorShape.safeParse(output).data?.message ?? readableJson(output);
  const run = runResultOf(result);
  if (run) {
    const omitted = run.omittedBytes > 0 ? `\n[${bytesText(run.omittedBytes)} left out]` : '';
    return run.text.trimEnd() + omitted;
  }
  if (mcpToolNamed(operation)) return mcpText(output);
  if (actionNamed(operation) !== undefined) return actionText(output);
  return mainText(output)?.trimEnd() ?? readableJson(output);
}

/** How a command ended, if it did not succeed; empty for all other results. */
export function commandEnding(result: Outcome): string {
  const run = runResultOf(result);
  if (!run) return '';
  const ending = endings[run.status];
  if (ending !== undefined) return ending;
  return run.exitCode === 0 || run.exitCode === null ? '' : `[exit code ${run.exitCode}]`;
}

const endings: Partial<Record<RunResult['status'], string>> = {
  running: '[still running]',
  background: '[running in the background]',
  timeout: '[timed out]',
  interrupted: '[interrupted]',
};

/** Truncated to `maxJson` characters; empty for an empty object. */
export function readableJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2) ?? '';
  return json === '{}' ? '' : json.slice(0, maxJson);
}

const maxJson = 20_000;

function mcpText(output: unknown): string {
  const { data } = mcpOutput.safeParse(output);
  if (!data) return readableJson(output);
  const structured = data.structuredContent ? `\n${readableJson(data.structuredContent)}` : '';
  return data.text.trimEnd() + structured;
}

/** An action’s output, with JSON indented, followed by its errors and a nonzero exit code. */
function actionText(output: unknown): string {
  const { data } = actionOutput.safeParse(output);
  if (!data) return readableJson(output);
  const { text, structured, errors, exitCode } = data;
  const end = exitCode === 0 ? '' : `[exit code ${exitCode}]`;
  const printed = structured === undefined ? text.trimEnd() : readableJson(structured);
  return [printed, errors, end].filter(Boolean).join('\n');
}

/** The text of a page or a file. */
function mainText(output: unknown): string | undefined {
  if (typeof output !== 'object' || output === null) return undefined;
  if ('text' in output && typeof output.text === 'string') return output.text;
  if ('content' in output && typeof output.content === 'string') return output.content;
  return undefined;
}
