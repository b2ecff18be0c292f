import { AppError } from '@belay/protocol';

interface EngineFailure {
  statusCode?: number;
  code?: string;
  message?: string;
  json?: { message?: string };
}

/** What was asked for is not there, or somebody else is removing it already. */
export function isGone(error: unknown): boolean {
  const { statusCode } = error as EngineFailure;
  return statusCode === 404 || (statusCode === 409 && /already in progress/.test(reason(error)));
}

/** A failure of the engine as one sentence that says what to do. */
export function dockerError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { code } = error as EngineFailure;
  const said = reason(error);
  if (code === 'EACCES' || code === 'EPERM') {
    return new AppError(
      'unavailable',
      'This user may not use Docker: add it to the group docker and log in again.',
    );
  }
  if (code && ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND'].includes(code)) {
    return new AppError(
      'unavailable',
      'Docker does not answer: start it (sudo systemctl start docker), then try again.',
    );
  }
  if (/no space left on device/i.test(said)) {
    return new AppError(
      'disk_full',
      'Docker has no disk space left: free some (docker system prune), then try again.',
    );
  }
  return new AppError('unavailable', `Docker could not do it: ${sentence(said)}`);
}

export function pullFailed(image: string, error: unknown): AppError {
  const failed = dockerError(error);
  const engineIsFine = failed.message.startsWith('Docker could not');
  if (!engineIsFine) return failed;
  return new AppError(
    'not_found',
    `Image ${image} is not on this machine and could not be pulled: ${sentence(reason(error))}`,
  );
}

function reason(error: unknown): string {
  const { json, message } = error as EngineFailure;
  const said = json?.message ?? message ?? String(error);
  return said.replace(/^\(HTTP code \d+\) [^-]* - /, '').trim();
}

function sentence(text: string): string {
  const line = text.trim().split('\n')[0] ?? '';
  return /[.!?]$/.test(line) ? line : `${line}.`;
}
