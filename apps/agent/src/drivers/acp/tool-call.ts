import type { ToolCall, ToolCallUpdate } from '@agentclientprotocol/sdk';
import {
  excerpt,
  isFields,
  loggedToolName,
  operations,
  pathsOf,
  programOutput,
  shellLine,
  toolOperation,
  type Operation,
} from '@belay/protocol';
import { z } from 'zod';

/** A call as far as the program has told it; fields of later reports replace earlier ones. */
export type ReportedCall = Pick<
  ToolCallUpdate,
  | 'toolCallId'
  | 'kind'
  | 'title'
  | 'name'
  | 'content'
  | 'locations'
  | 'rawInput'
  | 'rawOutput'
  | 'status'
  | '_meta'
> & {
  /** What a terminal of the call has printed. */
  printed: string;
};

/** The longest output of a call that is kept, in characters. */
const maxPrinted = 200_000;
const maxText = 30_000;

const meta = z.object({
  claudeCode: z.object({ toolName: z.string() }).optional().catch(undefined),
  terminal_output: z.object({ data: z.string() }).optional().catch(undefined),
  terminal_exit: z.object({ exit_code: z.number().int().nullable() }).optional().catch(undefined),
});
const metaOf = (value: unknown) => meta.safeParse(value ?? {}).data ?? {};

/** A call with one more report of it. */
export function reported(
  call: ReportedCall | undefined,
  report: ToolCall | ToolCallUpdate,
): ReportedCall {
  const news = Object.entries(report).filter(([, value]) => value !== undefined && value !== null);
  const { terminal_output: terminal } = metaOf(report._meta);
  const printed = `${call?.printed ?? ''}${terminal?.data ?? ''}`.slice(-maxPrinted);
  const _meta = { ...call?._meta, ...report._meta };
  return { ...call, ...Object.fromEntries(news), toolCallId: report.toolCallId, printed, _meta };
}

const hasInput = ({ rawInput }: ReportedCall): boolean =>
  isFields(rawInput) && Object.keys(rawInput).length > 0;

/** Whether a program has told what a call will do; some tell the folder of a command first. */
export const isTold = (call: ReportedCall): boolean =>
  call.kind === 'execute' ? commandOf(call.rawInput) !== undefined : hasInput(call);

/**
 * The operation that a call amounts to: a command is one of a terminal, so that rules and cards for commands apply;
 * all else is a tool of the program.
 */
export function operationOf(
  agent: string,
  call: ReportedCall,
): { operation: Operation; input: Record<string, unknown> } {
  const { rawInput, title, name, kind } = call;
  const run = kind === 'execute' ? commandOf(rawInput) : undefined;
  if (run !== undefined) return { operation: operations['terminal.run'], input: run };
  const known = name ?? metaOf(call._meta).claudeCode?.toolName ?? kind ?? 'other';
  const input = isFields(rawInput) && hasInput(call) ? rawInput : { title: title ?? known };
  return { operation: toolOperation({ agent, name: loggedToolName(known) }), input };
}

function commandOf(rawInput: unknown): Record<string, unknown> | undefined {
  if (!isFields(rawInput)) return undefined;
  const command = shellLine(rawInput['command']);
  return command.trim() ? operations['terminal.run'].input.safeParse({ command }).data : undefined;
}

/** The output of an ended call, in the shape of its operation. */
export function reportedOutput(
  operation: Pick<Operation, 'display'>,
  call: ReportedCall,
  { seconds, cwd }: { seconds: number; cwd: string },
): Record<string, unknown> {
  return programOutput(operation, {
    text: reportedText(call),
    exitCode: exitCodeOf(call),
    seconds,
    cwd,
  });
}

/** What a call printed or returned, shortened. */
export function reportedText({ content, printed, rawOutput }: ReportedCall): string {
  const texts = (content ?? []).flatMap((one) => {
    if (one.type === 'content') return one.content.type === 'text' ? one.content.text : [];
    return one.type === 'diff' ? `Changed ${one.path}` : [];
  });
  const text = printed || texts.join('\n') || rawText(rawOutput);
  return excerpt(text, maxText);
}

const rawOutputText = z.union([
  z.string(),
  z.object({ formatted_output: z.string() }).transform((raw) => raw.formatted_output),
  z.object({ output: z.string() }).transform((raw) => raw.output),
  z.object({ stdout: z.string() }).transform((raw) => raw.stdout),
]);

function rawText(rawOutput: unknown): string {
  if (rawOutput === undefined || rawOutput === null) return '';
  return rawOutputText.safeParse(rawOutput).data ?? JSON.stringify(rawOutput);
}

const rawExit = z.union([
  z.object({ exit_code: z.number().int() }).transform((raw) => raw.exit_code),
  z.object({ exitCode: z.number().int() }).transform((raw) => raw.exitCode),
  z
    .object({ metadata: z.object({ exit: z.number().int() }) })
    .transform(({ metadata }) => metadata.exit),
]);

function exitCodeOf({ _meta, rawOutput }: ReportedCall): number | null {
  return metaOf(_meta).terminal_exit?.exit_code ?? rawExit.safeParse(rawOutput).data ?? null;
}

/** The kinds of calls that change no files. */
const reads = new Set(['read', 'search', 'think', 'fetch', 'switch_mode']);

/**
 * The files to look for changes in after a call: undefined for all, null for none. A program that names the wrong ones
 * only delays the record of its changes until the next command.
 */
export function pathsToCommit(
  { operation, input }: { operation: Operation; input: unknown },
  { kind, locations, content }: ReportedCall,
): string[] | undefined | null {
  if (kind && reads.has(kind)) return null;
  if (kind !== 'edit') return undefined;
  const diffs = (content ?? []).flatMap((one) => (one.type === 'diff' ? one.path : []));
  const named = [...diffs, ...(locations ?? []).map(({ path }) => path)];
  const paths = named.length > 0 ? named : pathsOf(operation, input);
  return paths.length > 0 ? [...new Set(paths)].slice(0, 200) : undefined;
}
