import { fieldAt, fieldOf, isObject, listOf, asText } from './json-fields.js';
import {
  wholeCall,
  type CallFormat,
  type CallReader,
  type Refusal,
  type Refusals,
  type HeldCall,
} from './held-call.js';
import { dataFrame } from './wire-format.js';

/** Calls in Gemini’s content: a part for each, which is whole at once. */
export const geminiCalls: CallFormat = {
  reader: () => new PartReader(),
  replaced(frames, refusals) {
    return frames.map(({ bytes, message, keys }) => {
      if (!keys.some((key) => refusals.refused.has(key))) return bytes;
      return Buffer.from(dataFrame(replacedChunk(message, refusals, keysFrom(keys[0]))));
    });
  },
  callsIn(body) {
    const reader = new PartReader();
    for (const chunk of chunksIn(body)) reader.read(chunk);
    return [...reader.calls.values()];
  },
  replacedBody(body, refusals) {
    const next = keysFrom();
    const chunks = chunksIn(body).map((chunk) => replacedChunk(chunk, refusals, next));
    return Array.isArray(body) ? chunks : chunks[0];
  },
};

/** Without `alt=sse`, a stream is one list of chunks. */
const chunksIn = (body: unknown): readonly unknown[] => (Array.isArray(body) ? body : [body]);

class PartReader implements CallReader {
  readonly calls = new Map<string, HeldCall>();

  read(message: unknown): string[] {
    return callParts(message).map((part) => {
      const key = String(this.calls.size);
      const call = fieldOf(part, 'functionCall');
      // Clients must ask for calls in pieces; one cannot be read, and so is refused.
      const isInPieces = fieldOf(call, 'partialArgs') ?? fieldOf(call, 'willContinue');
      const input = isInPieces ? 'in pieces' : JSON.stringify(fieldOf(call, 'args') ?? {});
      const [id, name] = [asText(fieldOf(call, 'id')), asText(fieldOf(call, 'name'))];
      this.calls.set(key, wholeCall({ key, id, name, input }));
      return key;
    });
  }
}

/** Numbers calls from this key on. */
function keysFrom(first = '0'): () => string {
  let next = Number(first);
  return () => String(next++);
}

const partsIn = (message: unknown): readonly unknown[] =>
  listOf(fieldOf(message, 'candidates')).flatMap((candidate) =>
    listOf(fieldAt(candidate, 'content', 'parts')),
  );

const callParts = (message: unknown): readonly unknown[] =>
  partsIn(message).filter((part) => isObject(fieldOf(part, 'functionCall')));

function replacedChunk(message: unknown, { refused }: Refusals, nextKey: () => string): unknown {
  const candidates = listOf(fieldOf(message, 'candidates')).map((candidate) => {
    const content = fieldOf(candidate, 'content');
    if (!isObject(content)) return candidate;
    const parts = listOf(content['parts']).map((part) => {
      if (!isObject(fieldOf(part, 'functionCall'))) return part;
      const refusal = refused.get(nextKey());
      return refusal ? replacedPart(part, refusal) : part;
    });
    return { ...(candidate as object), content: { ...content, parts } };
  });
  return isObject(message) && message['candidates'] ? { ...message, candidates } : message;
}

/** The signature of a thought stays with its part. */
function replacedPart(part: unknown, { text, standIn }: Refusal): object {
  const { functionCall, ...others } = part as Record<string, unknown>;
  if (!standIn) return { ...others, text };
  const id = fieldOf(functionCall, 'id');
  const call = { ...(id !== undefined && { id }), name: standIn.tool, args: standIn.input };
  return { ...others, functionCall: call };
}
