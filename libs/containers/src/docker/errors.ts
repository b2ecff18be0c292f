import { AppError } from '@belay/protocol';

interface EngineFailure {
  statusCode?: number;
  code?: string;
  message?: string;
  json?: { message?: string };
}

/** The object does not exist. */
export const isNotFound = (error: unknown): boolean => (error as EngineFailure).statusCode === 404;

/** The engine cannot do this now, for example because a container uses an image. */
export const isConflict = (error: unknown): boolean => (error as EngineFailure).statusCode === 409;

/** The requested name is not valid. */
export const isMalformed = (error: unknown): boolean => (error as EngineFailure).statusCode === 400;

/** The object does not exist, or is already being removed. */
export function isGone(error: unknown): boolean {
  return isNotFound(error) || (isConflict(error) && /already in progress/.test(reason(error)));
}

/** The new name of a container belongs to another one. */
export function isNameTaken(error: unknown): boolean {
  return isConflict(error) && /already in use/.test(reason(error));
}

/** A failure of the engine as one sentence with a remedy. */
export function dockerError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { code } = error as EngineFailure;
  const message = reason(error);
  if (code === 'EACCES' || code === 'EPERM') {
    return new AppError(
      'unavailable',
      'This user is not allowed to use Docker: add the user to the group docker and log in again.',
    );
  }
  if (code && ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND'].includes(code)) {
    return new AppError(
      'unavailable',
      'Docker does not respond: start it (sudo systemctl start docker), then try again.',
    );
  }
  if (/no space left on device/i.test(message)) {
    return new AppError(
      'disk_full',
      'Docker has no disk space left: free some (docker system prune), then try again.',
    );
  }
  return new AppError('unavailable', `Docker failed: ${sentence(message)}`);
}

export function pullFailed(image: string, error: unknown): AppError {
  const failed = dockerError(error);
  const engineIsFine = failed.message.startsWith('Docker failed');
  if (!engineIsFine) return failed;
  return new AppError(
    'not_found',
    `Image ${image} is not on this machine and could not be pulled: ${pullFault(reason(error))}`,
  );
}

/** The engine’s own words quote what the registry, or whatever is at its address, has answered: they are not repeated. */
export function pullFault(words: string): string {
  const known = pullFaults.find(([pattern]) => pattern.test(words));
  return known?.[1] ?? 'its registry cannot be reached, or did not answer like one.';
}

const pullFaults: readonly (readonly [RegExp, string])[] = [
  [/toomanyrequests|rate limit/i, 'its registry has had too many requests. Try again later.'],
  [/no matching manifest|platform/i, 'it is not for this machine’s processor.'],
  [
    /not found|not known|manifest unknown|does not exist|denied|unauthorized/i,
    'there is no such image there, or it needs a login. Check the name, or have it pulled on this machine first.',
  ],
];

function reason(error: unknown): string {
  const { json, message } = error as EngineFailure;
  return (json?.message ?? message ?? String(error))
    .replace(/^\(HTTP code \d+\) [^-]* - /, '')
    .trim();
}

function sentence(text: string): string {
  const line = text.trim().split('\n')[0] ?? '';
  return /[.!?]$/.test(line) ? line : `${line}.`;
}
