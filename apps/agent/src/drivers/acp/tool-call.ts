import type { ToolCall, ToolCallUpdate } from '@agentclientprotocol/sdk';
import {
  eventBounds,
  excerpt,
  isFields,
  jsonFault,
  loggedToolName,
  maxShortText,
  operations,
  pathsOf,
  programOutput,
  shellLine,
  toolOperation,
  withShortTexts,
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

/** The end of a call’s output that is kept in any case, in characters. */
const maxPrinted = 200_000;
const maxText = 30_000;

const meta = z.object({
  claudeCode: z.object({ toolName: z.string() }).optional().catch(undefined),
  terminal_output: z.object({ data: z.string() }).optional().catch(undefined),
  terminal_exit: z.object({ exit_code: z.number().int().nullable() }).optional().catch(undefined),
});
const metaOf = (value: unknown) => meta.safeParse(value ?? {}).data ?? {};

/** What is kept of a call’s output, of which its result has a text of at most `maxText`. */
const outputBounds = { ...eventBounds, characters: 4 * maxText };

/** The fields of a report that are kept, as far as they fit; what does not is shortened, and else left out. */
function boundedFields(report: ToolCall | ToolCallUpdate): Partial<ReportedCall> {
  const { kind, title, name, content, locations, rawInput, rawOutput, status, _meta } = report;
  const { claudeCode, terminal_exit } = metaOf(_meta);
  const fields = {
    kind,
    status,
    title: title && excerpt(title),
    name: name && excerpt(name),
    content: fitting(content, outputBounds),
    locations: fitting(locations, outputBounds),
    rawInput: fitting(rawInput, eventBounds),
    rawOutput: fitting(rawOutput, outputBounds),
    ...(_meta && {
      _meta: { ...(claudeCode && { claudeCode }), ...(terminal_exit && { terminal_exit }) },
    }),
  };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  // A part of a text would keep the whole of it in memory.
  return JSON.parse(JSON.stringify(Object.fromEntries(given))) as Partial<ReportedCall>;
}

function fitting<T>(value: T, bounds: typeof eventBounds): T | undefined {
  const shortened = [maxText, maxShortText].map((most) => () => withShortTexts(value, most) as T);
  const made = [() => value, ...shortened].find((make) => jsonFault(make(), bounds) === undefined);
  return made?.();
}

/** A call with one more report of it. */
export function reported(
  call: ReportedCall | undefined,
  report: ToolCall | ToolCallUpdate,
): ReportedCall {
  const news = boundedFields(report);
  const { terminal_output: terminal } = metaOf(report._meta);
  const all = `${call?.printed ?? ''}${terminal?.data ?? ''}`;
  // Cutting costs time, so that not every report of a few characters does.
  const printed = all.length > 2 * maxPrinted ? all.slice(-maxPrinted) : all;
  const _meta = { ...call?._meta, ...news._meta };
  return { ...call, ...news, toolCallId: report.toolCallId, printed, _meta };
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
