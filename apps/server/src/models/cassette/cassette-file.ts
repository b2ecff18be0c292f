import { constants } from 'node:fs';
import { mkdir, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openRegularFile, readRegularFile } from '@belay/host';
import { AppError, message, modelReply, modelRequest, type ModelRequest } from '@belay/protocol';
import { z } from 'zod';
import type { ModelOutput } from '../model.js';

const reply = modelReply.omit({ usage: true }).extend({
  usage: z.object({
    input: z.int(),
    cached: z.int(),
    cacheWrite: z.int(),
    output: z.int(),
    dollars: z.number().optional(),
  }),
});

/** One call. Messages shared with the previous recording are not repeated. */
const recordingLine = z.object({
  purpose: modelRequest.shape.purpose,
  operations: modelRequest.shape.operations,
  /** The number of messages shared with the previous recording. */
  kept: z.int().nonnegative(),
  messages: z.array(message),
  reply,
});
const heading = z.object({ cassette: z.literal(1) });
const firstLine = `${JSON.stringify({ cassette: 1 })}\n`;
const maxBytes = 256 * 2 ** 20;
const { O_RDWR, O_CREAT, O_APPEND } = constants;

export interface CassetteCall {
  request: ModelRequest;
  reply: ModelOutput;
}

/** Writes a cassette: a heading, then one line of JSON for each call. */
export class CassetteWriter {
  #previous: string[] = [];

  constructor(private readonly file: string) {}

  /** `anew` replaces the file’s content. */
  async add({ request, reply: output }: CassetteCall, anew: boolean): Promise<void> {
    const messages = request.messages.map((one) => JSON.stringify(one));
    const before = anew ? [] : this.#previous;
    let kept = 0;
    while (kept < messages.length && messages[kept] === before[kept]) kept += 1;
    this.#previous = messages;
    const { purpose, operations } = request;
    const body = {
      purpose,
      operations,
      kept,
      messages: request.messages.slice(kept),
      reply: output,
    };
    await mkdir(dirname(this.file), { recursive: true });
    const file = await openRegularFile(this.file, O_RDWR | O_CREAT | O_APPEND);
    try {
      const isEmpty = await this.#assertCassette(file);
      if (anew) await file.truncate();
      await file.appendFile(`${anew || isEmpty ? firstLine : ''}${JSON.stringify(body)}\n`);
    } finally {
      await file.close();
    }
  }

  /** Returns whether it is empty. Throws for another file, whose content must not be lost. */
  async #assertCassette(file: FileHandle): Promise<boolean> {
    const wanted = Buffer.from(firstLine);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(wanted.length), { position: 0 });
    if (bytesRead === 0 || buffer.equals(wanted)) return bytesRead === 0;
    throw new AppError(
      'invalid_input',
      `${this.file} exists and is not a cassette: record to another file, or remove it first.`,
    );
  }
}

/** Reads a cassette. Throws one sentence: `not_found`, `too_large`, or `invalid_input` with the line. */
export async function readCassette(file: string): Promise<CassetteCall[]> {
  const source = await readRegularFile(file, maxBytes).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof AppError) throw error;
    const missing = error.code === 'ENOENT' || error.code === 'ENOTDIR';
    throw missing
      ? new AppError(
          'not_found',
          `There is no cassette ${file}; record one with cassette:${file}?record=PROVIDER:MODEL.`,
        )
      : new AppError('invalid_input', `The cassette ${file} cannot be read: ${error.message}.`);
  });
  const [first = '', ...lines] = source.toString().split('\n');
  read(heading, first, { file, line: 1 });
  const recordings: CassetteCall[] = [];
  for (const [index, text] of lines.entries()) {
    if (text === '') continue;
    const line = read(recordingLine, text, { file, line: index + 2 });
    const before = recordings.at(-1)?.request.messages.slice(0, line.kept) ?? [];
    const { purpose, operations } = line;
    const messages = [...before, ...line.messages];
    recordings.push({ request: { purpose, operations, messages }, reply: line.reply });
  }
  return recordings;
}

function read<T>(schema: z.ZodType<T>, text: string, at: { file: string; line: number }): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new AppError('invalid_input', `The cassette ${at.file} is malformed at line ${at.line}.`);
  }
}
