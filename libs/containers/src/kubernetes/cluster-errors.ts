import { AppError, visibleText } from '@belay/protocol';

interface ClusterFailure {
  /** An HTTP status. */
  code?: number | string;
  statusCode?: number;
  message?: string;
  /** A `Status` of the API as text, or an object of it. */
  body?: unknown;
  cause?: { code?: string; message?: string };
}

const statusOf = ({ code, statusCode }: ClusterFailure): number | undefined =>
  typeof code === 'number' ? code : statusCode;

/** The object does not exist. Not for a missing namespace, whose objects cannot be made. */
export const isMissing = (error: unknown): boolean => statusOf(error as ClusterFailure) === 404;

/** Another object has the name. */
export const isAlreadyThere = (error: unknown): boolean =>
  statusOf(error as ClusterFailure) === 409;

/** The cluster remembers the changes since a version for some minutes only. */
export const isOutdated = (error: unknown): boolean => statusOf(error as ClusterFailure) === 410;

/** A failure of the cluster as one sentence with a remedy. */
export function clusterError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const failure = error as ClusterFailure;
  const status = statusOf(failure);
  const words = wordsOf(failure);
  if (status === undefined)
    return new AppError('unavailable', `Kubernetes does not respond (${words}).`);
  if (status === 401)
    return new AppError(
      'unavailable',
      'Kubernetes does not accept the server’s credentials: renew its kubeconfig or service account.',
    );
  if (/exceeded quota/.test(words))
    return new AppError(
      'limit_reached',
      `The namespace’s quota allows no further container: ${words}.`,
    );
  if (/violates PodSecurity/.test(words))
    return new AppError(
      'unavailable',
      `The namespace refuses the container: give it the label pod-security.kubernetes.io/enforce=baseline (${words}).`,
    );
  const absent = absentClass.exec(words)?.[0];
  if (absent !== undefined)
    return new AppError(
      'unavailable',
      `The cluster lacks a class that its pods are set to have (${absent}): make it, or name another one.`,
    );
  if (status === 403)
    return new AppError(
      'unavailable',
      `Kubernetes does not allow it: give the server the Role of docs/kubernetes.md (${words}).`,
    );
  return new AppError('unavailable', `Kubernetes failed: ${words}.`);
}

/** The words of Kubernetes’ admission. */
const absentClass = /RuntimeClass "[^"]+" not found|no PriorityClass with name \S+ was found/;

const maxWords = 400;

/** In one line, without the period at its end. */
function wordsOf({ body, message, cause }: ClusterFailure): string {
  const text = statusMessage(body) ?? cause?.message ?? cause?.code ?? message ?? 'no reason given';
  return visibleText(text.split('\n')[0] ?? '')
    .trim()
    .slice(0, maxWords)
    .replace(/[.:]$/, '');
}

function statusMessage(body: unknown): string | undefined {
  try {
    const status = typeof body === 'string' ? (JSON.parse(body) as unknown) : body;
    const { message } = status as { message?: unknown };
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
