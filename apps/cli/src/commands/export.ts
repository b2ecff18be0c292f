import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { download } from '@belay/client';
import { api, AppError } from '@belay/protocol';
import { exportTranscript } from './export-transcript.js';
import { clientOf, findServer, findSession, type PrintOptions } from '../connection.js';
import { printResult } from '../output.js';
import { checkedFile } from '../result-file.js';

const exportFormats = ['patch', 'zip', 'tar', 'bundle'] as const;

export interface ExportOptions extends PrintOptions {
  /** One of these formats, or the name of an agent. */
  format: string;
  output?: string;
  commit?: string;
  cwd?: string;
}

const isExportFormat = (name: string): name is (typeof exportFormats)[number] =>
  exportFormats.some((format) => format === name);

/** `belay export`: a session’s changes, files or history as a file, streamed. */
export async function exportSession(name: string, options: ExportOptions): Promise<void> {
  const { format, commit, json } = options;
  if (!isExportFormat(format)) return exportTranscript(name, options);
  if (options.output === '-' && process.stdout.isTTY && format !== 'patch')
    throw new AppError(
      'invalid_input',
      `A ${format} file cannot be printed to a terminal. Name a file: -o FILE`,
    );
  if (json && options.output === '-')
    throw new AppError('invalid_input', '--json needs a file. Leave out -o -.');
  if (options.output && options.output !== '-') await checkedFile(options.output);
  const server = findServer(options);
  const { id } = await findSession(clientOf(server), name);
  const file = options.output ?? `belay-${id}.${format}`;
  if (!options.output) await checkedFile(file);
  const bytes = Readable.from(
    await download(server, api.sessions.export, [id, { format, commit }]),
  );
  if (file === '-') return pipeline(bytes, process.stdout, { end: false });
  await writeStreamed(file, bytes);
  const { size } = await stat(file);
  const written = { session: id, format, file, bytes: size };
  printResult(options, written, `Wrote ${file} (${Math.ceil(size / 1024)} KiB).`);
}

/** An existing file is replaced only once everything has arrived. */
async function writeStreamed(file: string, bytes: Readable): Promise<void> {
  const unfinished = `${file}.${process.pid}.part`;
  try {
    await pipeline(bytes, createWriteStream(unfinished, { flags: 'wx' }));
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    if (error instanceof AppError) throw error;
    const { message } = error as Error;
    throw new AppError('unavailable', `${file} was not written: ${message}. Export it again.`);
  }
}
