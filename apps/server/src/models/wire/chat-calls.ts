import { fieldOf, isObject, listOf, asText } from './json-fields.js';
import {
  type CallFormat,
  type CallReader,
  type HeldFrame,
  type Refusal,
  type Refusals,
  type HeldCall,
} from './held-call.js';
import { dataFrame } from './wire-format.js';

/** The key of the one call in the older form of the API. */
const onlyCall = 'function_call';

/** Calls in Chat Completions: their pieces share frames, and they are whole when the message is. */
export const chatCalls: CallFormat = {
  reader: () => new DeltaReader(),
  replaced(frames, refusals) {
    const begun = new Set<string>();
    return frames.flatMap((frame) => replacedFrame(frame, refusals, begun));
  },
  callsIn(body) {
    const reader = new DeltaReader();
    reader.take(fieldOf(choiceOf(body), 'message'));
    return [...reader.calls.values()].map((call) => ({ ...call, isWhole: true }));
  },
  replacedBody(body, refusals) {
    const choice = choiceOf(body);
    const message = replacedDelta(fieldOf(choice, 'message'), refusals, new Set());
    const finish_reason = finishOf(choice, refusals);
    return { ...(body as object), choices: [{ ...(choice as object), message, finish_reason }] };
  },
};

class DeltaReader implements CallReader {
  readonly calls = new Map<string, HeldCall>();

  read(message: unknown): string[] {
    const choice = choiceOf(message);
    const keys = this.take(fieldOf(choice, 'delta'));
    if (asText(fieldOf(choice, 'finish_reason')))
      for (const call of this.calls.values()) call.isWhole = true;
    return keys;
  }

  /** Adds the pieces of calls in a delta or a message. */
  take(delta: unknown): string[] {
    return piecesIn(delta).map(([key, piece]) => {
      const part = fieldOf(piece, 'function') ?? fieldOf(piece, 'custom') ?? piece;
      const call = this.calls.get(key) ?? { key, id: '', name: '', input: '', isWhole: false };
      call.id ||= asText(fieldOf(piece, 'id'));
      call.name += asText(fieldOf(part, 'name'));
      call.input += asText(fieldOf(part, 'arguments') ?? fieldOf(part, 'input'));
      this.calls.set(key, call);
      return key;
    });
  }
}

const choiceOf = (message: unknown): unknown => listOf(fieldOf(message, 'choices'))[0];

/** The pieces of calls in a delta or a message, by the keys of their calls. */
function piecesIn(delta: unknown): [string, unknown][] {
  const pieces = listOf(fieldOf(delta, 'tool_calls')).map((piece, at): [string, unknown] => [
    JSON.stringify(fieldOf(piece, 'index') ?? at),
    piece,
  ]);
  const only = fieldOf(delta, onlyCall);
  return isObject(only) ? [...pieces, [onlyCall, only]] : pieces;
}

function replacedFrame(frame: HeldFrame, refusals: Refusals, begun: Set<string>): Buffer[] {
  const { message, bytes, keys } = frame;
  const choice = choiceOf(message);
  const isEnd = /^(tool_calls|function_call)$/.test(asText(fieldOf(choice, 'finish_reason')));
  const isChanged =
    keys.some((key) => refusals.refused.has(key)) || (isEnd && !refusals.leavesCalls);
  if (!isChanged) return [bytes];
  const delta = replacedDelta(fieldOf(choice, 'delta'), refusals, begun);
  const finish_reason = finishOf(choice, refusals);
  const isEmpty = Object.keys(delta).every((name) => name === 'role' || delta[name] === null);
  if (isEmpty && !finish_reason && !fieldOf(message, 'usage')) return [];
  const choices = [{ ...(choice as object), delta, finish_reason }];
  return [Buffer.from(dataFrame({ ...(message as object), choices }))];
}

/** `begun`: the refused calls whose stand-in is written. */
function replacedDelta(
  delta: unknown,
  { refused }: Refusals,
  begun: Set<string>,
): Record<string, unknown> {
  const {
    tool_calls: _calls,
    [onlyCall]: _only,
    ...others
  } = (delta ?? {}) as Record<string, unknown>;
  const changed: Record<string, unknown> = { ...others };
  const kept: unknown[] = [];
  for (const [key, piece] of piecesIn(delta)) {
    const refusal = refused.get(key);
    if (refusal && begun.has(key)) continue;
    if (refusal) begun.add(key);
    if (refusal && !refusal.standIn) changed['content'] = asText(changed['content']) + refusal.text;
    else if (key === onlyCall) changed[onlyCall] = refusal ? standInFunction(refusal) : piece;
    else kept.push(refusal ? standInPiece(piece, refusal) : piece);
  }
  return kept.length > 0 ? { ...changed, tool_calls: kept } : changed;
}

const standInFunction = ({ standIn }: Refusal) => ({
  name: standIn?.tool,
  arguments: JSON.stringify(standIn?.input),
});

const standInPiece = (piece: unknown, refusal: Refusal): object => ({
  ...(fieldOf(piece, 'index') !== undefined && { index: fieldOf(piece, 'index') }),
  id: fieldOf(piece, 'id'),
  type: 'function',
  function: standInFunction(refusal),
});

const finishOf = (choice: unknown, { leavesCalls }: Refusals): unknown => {
  const reason = fieldOf(choice, 'finish_reason') ?? null;
  return reason !== null && !leavesCalls ? 'stop' : reason;
};
