import { AppError } from '@belay/protocol';

/** The error for an aborted signal: its own reason, a timeout, or a cancellation by the user. */
export function endedBy(signal: AbortSignal): AppError {
  const reason: unknown = signal.reason;
  if (reason instanceof AppError) return reason;
  return (reason as { name?: unknown } | undefined)?.name === 'TimeoutError'
    ? new AppError('timeout', 'The git server took too long. Try again, or with less history.')
    : new AppError('cancelled', 'The call was cancelled.');
}
