import { access, constants, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '@belay/protocol';

/** Checks in advance that a result can be written to this file. */
export async function checkedFile(file: string): Promise<void> {
  const folder = dirname(file);
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory()) throw refusal(file, 'it is a folder');
  await access(found ? file : folder, constants.W_OK).catch((error: NodeJS.ErrnoException) => {
    throw refusal(file, error.code === 'ENOENT' ? `${folder} does not exist` : String(error.code));
  });
}

export async function writeResult(file: string, content: Uint8Array): Promise<void> {
  await writeFile(file, content).catch((error: NodeJS.ErrnoException) => {
    throw refusal(file, String(error.code));
  });
}

const refusal = (file: string, why: string): AppError =>
  new AppError('invalid_input', `${file} cannot be written: ${why}.`);
