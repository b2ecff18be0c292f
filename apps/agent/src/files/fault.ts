import { AppError, type ErrorCode } from '@belay/protocol';

const sentences: Record<string, [ErrorCode, (path: string) => string]> = {
  ENOENT: ['not_found', (path) => `${path} does not exist.`],
  EEXIST: ['conflict', (path) => `${path} exists already.`],
  ENOTDIR: ['invalid_input', (path) => `A part of ${path} is a file, not a folder.`],
  EISDIR: ['invalid_input', (path) => `${path} is a folder.`],
  ENOTEMPTY: ['conflict', (path) => `${path} is a folder that is not empty.`],
  EACCES: ['forbidden', (path) => `Permission denied for ${path}.`],
  EPERM: ['forbidden', (path) => `Permission denied for ${path}.`],
  EROFS: ['forbidden', (path) => `${path} is on a read-only file system.`],
  ENOSPC: ['disk_full', (path) => `The disk is full: ${path} was not changed.`],
  EDQUOT: ['disk_full', (path) => `The disk quota is used up: ${path} was not changed.`],
  ENAMETOOLONG: ['invalid_input', (path) => `The name ${path.slice(0, 80)}… is too long.`],
  EXDEV: ['invalid_input', (path) => `${path} is on another file system; copy it instead.`],
  EMFILE: ['unavailable', (path) => `Too many files are open to reach ${path}; try again.`],
};

/**
 * Converts a system error to an `AppError` with the path as the caller gave it. Other errors are returned unchanged.
 */
export function fault(error: unknown, path: string): unknown {
  const [code, sentence] = sentences[errorNumber(error) ?? ''] ?? [];
  return code && sentence ? new AppError(code, sentence(path)) : error;
}

/** A code like `ENOENT`; undefined for an error that does not come from the system. */
export function errorNumber(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'string' && code.startsWith('E') ? code : undefined;
}

export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new AppError('cancelled', 'The call was cancelled.');
}
