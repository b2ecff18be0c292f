import type { OperationRequest } from '@belay/protocol';

type Name = 'browser.click' | 'browser.type' | 'browser.scroll';

interface Action<N extends Name = Name> {
  operation: N;
  input: OperationRequest<N>;
}

/**
 * Sends the user’s input in the agent’s browser one call at a time, in order. Consecutive typing or
 * scrolling during a call is combined into one call. `send` reports its own failures.
 */
export function userInput(send: (action: Action) => Promise<unknown>) {
  const waiting: Action[] = [];
  let sending = false;
  const sendAll = async () => {
    sending = true;
    for (let action = waiting.shift(); action; action = waiting.shift()) await send(action);
    sending = false;
  };
  return <N extends Name>(operation: N, input: OperationRequest<N>): void => {
    const action = { operation, input };
    const last = waiting.pop();
    waiting.push(...(last ? (joined(last, action) ?? [last, action]) : [action]));
    if (!sending) void sendAll();
  };
}

type Join<N extends Name> = (
  earlier: OperationRequest<N>,
  later: OperationRequest<N>,
) => OperationRequest<N> | null;

/** Combines two consecutive inputs; null to send them separately, as for operations not listed. */
const joins: { [N in Name]?: Join<N> } = {
  'browser.scroll': (earlier, later) => ({ y: (earlier.y ?? 0) + (later.y ?? 0) }),
  'browser.type': (earlier, later) =>
    earlier.key || later.key ? null : { text: earlier.text + later.text },
};

function joined<N extends Name>(earlier: Action, later: Action<N>): [Action] | null {
  if (earlier.operation !== later.operation) return null;
  const join: Join<N> | undefined = joins[later.operation];
  const input = join?.(earlier.input as OperationRequest<N>, later.input);
  return input ? [{ ...later, input }] : null;
}
