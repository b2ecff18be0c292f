import {
  AppError,
  calledOperation,
  newEvent,
  programOutput,
  rejectionBy,
  rejectionOf,
  type EndedRun,
  type Event,
  type EventOf,
  type NewEvent,
} from '@belay/protocol';

/** A call that the server has read from a program’s model, and that its program has not reported. */
export interface UnreportedCall {
  event: Event;
  /** Why it was refused; undefined if it could run. */
  refusal: AppError | undefined;
}

/** The result of such a call; `text` says where its output is. */
export function unreportedResult(
  { event, refusal }: UnreportedCall,
  { text, cwd }: Pick<EndedRun, 'text' | 'cwd'>,
): NewEvent {
  const operation = calledOperation(event.action);
  const seconds = Math.max(0, Date.now() - Date.parse(event.time)) / 1_000;
  const run = { text, exitCode: null, seconds, cwd };
  const output = refusal?.toJSON() ?? programOutput(operation ?? { display: 'plain' }, run);
  const args = { operation: event.action, ok: !refusal, output, seconds };
  const message = refusal?.message ?? `${event.action} ended`;
  return newEvent('agent', 'result', { args, message, ...(event.id && { id: event.id }) });
}

/** Why a held call was refused. */
export const refusalOf = ({ args }: EventOf<'reject'>): AppError => rejectionOf(rejectionBy(args));
