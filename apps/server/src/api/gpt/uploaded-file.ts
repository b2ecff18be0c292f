import { AppError } from '@belay/protocol';
import busboy from 'busboy';
import type { Request } from 'express';

export const maxUploadBytes = 10_000_000;

export interface UploadedFile {
  /** The file’s name without folders. */
  name: string;
  content: Buffer;
}

/** The form’s field `file` or `document`. Throws one sentence for anything else, and discards the rest. */
export function uploadedFile(request: Request): Promise<UploadedFile> {
  const { promise, resolve, reject } = Promise.withResolvers<UploadedFile>();
  const form = formOf(request);
  let found: UploadedFile | undefined;
  form.on('file', (field, stream, { filename }) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('limit', () => reject(tooLarge()));
    stream.once('end', () => {
      if (!fields.includes(field) || found) return;
      found = { name: filename ?? '', content: Buffer.concat(chunks) };
    });
  });
  form.once('error', (error) => reject(unreadable(error)));
  form.once('close', () => (found?.name ? resolve(found) : reject(missing())));
  request.once('close', () => request.complete || reject(missing()));
  request.pipe(form);
  return promise.finally(() => {
    request.unpipe(form);
    request.resume();
  });
}

const fields = ['file', 'document'];

function formOf({ headers }: Request): busboy.Busboy {
  try {
    const limits = { files: 2, fileSize: maxUploadBytes, fields: 20, fieldSize: 4_096, parts: 25 };
    return busboy({ headers, limits });
  } catch {
    throw missing();
  }
}

const missing = (): AppError =>
  new AppError(
    'invalid_input',
    'Send one file as multipart/form-data, in the field file or document.',
  );

const tooLarge = (): AppError =>
  new AppError('too_large', `A file may have at most ${maxUploadBytes / 1e6} MB.`);

const unreadable = (error: unknown): AppError =>
  new AppError(
    'invalid_input',
    `The form cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
  );
