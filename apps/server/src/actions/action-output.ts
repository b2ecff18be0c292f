import { AppError, type ActionOutput } from '@belay/protocol';
import { extensionOf, fileType, isPicture, isSound } from './file-type.js';
import type { LeftFiles } from './left-files.js';
import { dataLines, withoutMiddle, type PrintedOutput } from './printed-output.js';

export interface EndedCall {
  printed: PrintedOutput;
  left: LeftFiles;
  exitCode: number;
  seconds: number;
  /** Why connections were refused; programs often report only that a request failed. */
  refusals: readonly string[];
  /** Values that must not appear in the output. */
  secrets: readonly string[];
}

export type PutBlob = (bytes: Uint8Array, type: string) => Promise<string>;

/** The output of a finished call; its files and pictures are stored as blobs. Throws what `putBlob` throws. */
export async function actionOutputOf(ended: EndedCall, putBlob: PutBlob): Promise<ActionOutput> {
  const { printed, left, exitCode, seconds } = ended;
  const without = (text: string) => withoutSecrets(text, ended.secrets);
  const { text, files: printedFiles } = dataLines(without(printed.text));
  const unnamed = printedFiles.map((bytes, index) => ({
    name: `printed-${index + 1}${extensionOf(fileType(bytes))}`,
    bytes,
  }));
  const kept: Pick<ActionOutput, 'images' | 'audio' | 'files'> = {
    images: [],
    audio: [],
    files: [],
  };
  for (const { name, bytes } of [...left.files, ...unnamed]) {
    const type = fileType(bytes);
    const blob = await putBlob(bytes, type);
    kept.files.push({ name, type, blob, bytes: bytes.length });
    if (isPicture(type)) kept.images.push(blob);
    if (isSound(type)) kept.audio.push(blob);
  }
  const errors = [
    // Comes first, because a program’s own output may be long.
    ...ended.refusals.map(refusalWords),
    without(printed.errors).trimEnd(),
    left.fault ?? '',
  ]
    .filter(Boolean)
    .join('\n');
  const end = { errors, exitCode, seconds, ...kept };
  const short = withoutMiddle(text);
  if (short !== text)
    return { text: short, ...end, full: await putBlob(Buffer.from(text), 'text/plain') };
  const structured = structuredIn(text);
  return structured === undefined ? { text, ...end } : { text: '', structured, ...end };
}

/** A failure, with the refusals that may have caused it. */
export function withRefusedConnections(error: unknown, refusals: readonly string[]): unknown {
  if (!(error instanceof AppError) || refusals.length === 0) return error;
  return new AppError(error.code, [error.message, ...refusals.map(refusalWords)].join(' '));
}

const refusalWords = (reason: string): string => `Belay refused a connection: ${reason}`;

/** Throws `tool_failed`, with a remedy, when the program failed. */
export function assertRan(
  name: string,
  { code, outOfMemory = false }: { code?: number; outOfMemory?: boolean },
  { memoryMb, lastOutput }: { memoryMb: number; lastOutput: string },
): number {
  const fail = (why: string): never => {
    throw new AppError('tool_failed', `The action ${name} ${why}`);
  };
  if (outOfMemory)
    fail(`ran out of memory: its limit is ${memoryMb} MB (memory_mb in its manifest).`);
  if (code === 126 || code === 127)
    fail(
      `cannot be run: its image lacks \`run\` or the program that runs it. ${lastOutput}`.trim(),
    );
  return code ?? fail('ended without an exit code: call it again.');
}

function structuredIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Shorter secrets are not masked, because they would match parts of ordinary words. */
const shortestSecret = 6;

function withoutSecrets(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets)
    if (secret.length >= shortestSecret) shown = shown.replaceAll(secret, '…');
  return shown;
}
