type Input = Record<string, unknown>;

interface Act {
  operation: string;
  input: Input;
}

/**
 * Sends what a person does in the agent’s browser one after the other, in their order. What is typed or
 * scrolled while a call is on its way goes along in one. `send` tells its own failures.
 */
export function personInput(send: (operation: string, input: Input) => Promise<unknown>) {
  const waiting: Act[] = [];
  let sending = false;
  const sendAll = async () => {
    sending = true;
    for (let act = waiting.shift(); act; act = waiting.shift())
      await send(act.operation, act.input);
    sending = false;
  };
  return (operation: string, input: Input): void => {
    const act = { operation, input };
    const last = waiting.pop();
    waiting.push(...(last ? (joined(last, act) ?? [last, act]) : [act]));
    if (!sending) void sendAll();
  };
}

function joined(earlier: Act, { operation, input }: Act): [Act] | null {
  if (earlier.operation !== operation) return null;
  const before = earlier.input;
  if (operation === 'browser.scroll')
    return [{ operation, input: { y: Number(before['y']) + Number(input['y']) } }];
  const letters = operation === 'browser.type' && !before['key'] && !input['key'];
  return letters
    ? [{ operation, input: { text: String(before['text']) + String(input['text']) } }]
    : null;
}
