import {
  AppError,
  excerpt,
  jsonFault,
  maxAgentMessage,
  maxShortText,
  withShortTexts,
  type AgentEvent,
  type EventArgs,
} from '@belay/protocol';

type Unnumbered = Omit<AgentEvent, 'n'>;

/**
 * Shortens an event to the server’s limits. A result that is too large becomes a failure that says so, because the
 * loop waits for it; other events keep the beginnings of their texts.
 */
export function boundedEvent(event: Unnumbered): Unnumbered {
  const message = excerpt(event.message, maxAgentMessage);
  const fault = jsonFault(event.args);
  if (fault === undefined) return { ...event, message };
  return {
    ...event,
    message,
    args: event.action === 'result' ? failed(event.args, fault) : short(event.args),
  };
}

function failed(args: Record<string, unknown>, fault: string): Record<string, unknown> {
  const { operation, seconds } = args as EventArgs<'result'>;
  const error = new AppError(
    'too_large',
    `The output ${fault}. Ask for less of it, or read it in pages.`,
  );
  return { operation: excerpt(operation, 300), ok: false, output: error.toJSON(), seconds };
}

function short(args: Record<string, unknown>): Record<string, unknown> {
  return withShortTexts(args, maxShortText) as Record<string, unknown>;
}
