import { readRegularFile } from '@belay/host';
import { AppError } from '@belay/protocol';
import { LineCounter, parseDocument, type Document } from 'yaml';
import { z } from 'zod';

const finish = z.union([
  z.string().transform((summary) => ({ summary, outcome: 'success' as const })),
  z.strictObject({
    summary: z.string().min(1).default('Done.'),
    outcome: z.enum(['success', 'failure']).default('success'),
  }),
]);

const turn = z
  .strictObject({
    /** Plays the turn only if the last results match this expression; otherwise it is skipped. */
    when: z.string().refine(isExpression, 'is not a regular expression').optional(),
    /** A regular expression over the JSON of the last results; `.` also matches newlines. */
    expect: z.string().refine(isExpression, 'is not a regular expression').optional(),
    /** Streamed as the model's reasoning. */
    reason: z.string().optional(),
    say: z.string().optional(),
    calls: z
      .array(
        z.strictObject({
          operation: z.string().min(1),
          input: z.record(z.string(), z.unknown()).default({}),
        }),
      )
      .min(1)
      .optional(),
    finish: finish.optional(),
  })
  .refine((value) => value.say !== undefined || value.calls || value.finish, {
    message: 'needs say, calls or finish',
  })
  .refine((value) => !(value.calls && value.finish), 'has both calls and finish');

const script = z.strictObject({
  title: z.string().optional(),
  description: z.string().optional(),
  task: z.string().optional().describe('The task that the dashboard suggests.'),
  /** Milliseconds between the pieces in which `say` streams. */
  pace: z.number().min(0).max(1_000).default(8),
  turns: z.array(turn).min(1),
});
export type Script = z.output<typeof script>;
export type ScriptTurn = Script['turns'][number];

const maxBytes = 4 * 2 ** 20;

/**
 * Reads a script. Throws one sentence: `not_found`, `too_large`, or `invalid_input` with the line, and without the text
 * of that line, because all viewers of a session see why it failed. `name` is what its messages call the script.
 */
export async function readScript(file: string, name = file): Promise<Script> {
  const source = await readRegularFile(file, maxBytes).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof AppError) throw error;
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
      throw new AppError('not_found', `There is no script ${name}.`);
    }
    throw new AppError('invalid_input', `The script ${name} cannot be read: ${error.message}.`);
  });
  return parseScript(source.toString(), name);
}

export function parseScript(source: string, file: string): Script {
  const lines = new LineCounter();
  // The parser's warnings would print parts of the file.
  const options = { lineCounter: lines, prettyErrors: false, logLevel: 'error' } as const;
  const document = parseDocument(source, options);
  const fault = document.errors[0];
  if (fault) throw malformed(file, lines.linePos(fault.pos[0]).line, withoutText(fault.message));
  const parsed = script.safeParse(valueOf(document, file));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const path = issue?.path ?? [];
  const where = path.length > 0 ? `${pathText(path)}: ` : '';
  throw malformed(file, lineOf(document, lines, path), `${where}${issue?.message ?? 'unreadable'}`);
}

/** Recursive aliases, and too many of them, cause errors only here. */
function valueOf(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw malformed(file, 1, withoutText(error instanceof Error ? error.message : String(error)));
  }
}

/** The line of the deepest existing node on the path. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown =
      length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    const range = z.object({ range: z.tuple([z.number()], z.number()) }).safeParse(node);
    if (range.success) return lines.linePos(range.data.range[0]).line;
  }
  return 1;
}

/** The parser’s messages end with the text that they are about, after a colon. */
const withoutText = (reason: string): string => reason.replace(/:\s[^]*$/, '');

const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((key, index) =>
      typeof key === 'number' ? `[${key}]` : `${index ? '.' : ''}${String(key)}`,
    )
    .join('');

function malformed(file: string, line: number, reason: string): AppError {
  const words = reason.replace(/\s+/g, ' ').replace(/[.:]$/, '');
  return new AppError(
    'invalid_input',
    `The script ${file} is malformed at line ${line}: ${words}.`,
  );
}

function isExpression(text: string): boolean {
  try {
    new RegExp(text, 's');
    return true;
  } catch {
    return false;
  }
}
