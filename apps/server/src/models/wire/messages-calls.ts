import { fieldAt, fieldOf, isObject, listOf, asText } from './json-fields.js';
import {
  wholeCall,
  type CallFormat,
  type CallReader,
  type HeldFrame,
  type Refusal,
  type HeldCall,
} from './held-call.js';
import { namedFrame } from './wire-format.js';

/** Calls in Anthropic’s Messages: a content block for each. */
export const messagesCalls: CallFormat = {
  reader: () => new BlockReader(),
  replaced(frames, refusals) {
    return frames.flatMap((frame) => {
      const refusal = refusals.refused.get(frame.keys[0] ?? '');
      if (refusal) return standInFrames(frame, refusal);
      const isEnd = fieldAt(frame.message, 'delta', 'stop_reason') === 'tool_use';
      return isEnd && !refusals.leavesCalls ? [withoutCalls(frame)] : [frame.bytes];
    });
  },
  callsIn: (body) =>
    listOf(fieldOf(body, 'content')).flatMap((block, index) =>
      fieldOf(block, 'type') === 'tool_use' ? wholeCall(callOfBlock(block, String(index))) : [],
    ),
  replacedBody(body, { refused, leavesCalls }) {
    const content = listOf(fieldOf(body, 'content')).map((block, index) => {
      const refusal = refused.get(String(index));
      return refusal ? replacedBlock(block, refusal) : block;
    });
    const ends = leavesCalls ? {} : { stop_reason: 'end_turn' };
    return { ...(body as object), content, ...ends };
  },
};

class BlockReader implements CallReader {
  readonly calls = new Map<string, HeldCall>();

  read(message: unknown): string[] {
    const key = String(fieldOf(message, 'index'));
    const type = fieldOf(message, 'type');
    const block = fieldOf(message, 'content_block');
    if (type === 'content_block_start' && fieldOf(block, 'type') === 'tool_use') {
      this.calls.set(key, { ...callOfBlock(block, key), isWhole: false });
      return [key];
    }
    const call = this.calls.get(key);
    if (!call || (type !== 'content_block_delta' && type !== 'content_block_stop')) return [];
    if (type === 'content_block_delta')
      call.input += asText(fieldAt(message, 'delta', 'partial_json'));
    else call.isWhole = true;
    return [key];
  }
}

/** A block begins with an empty input, which deltas then fill. */
function callOfBlock(block: unknown, key: string): Omit<HeldCall, 'isWhole'> {
  const input = fieldOf(block, 'input');
  const isFilled = isObject(input) && Object.keys(input).length > 0;
  return {
    key,
    id: asText(fieldOf(block, 'id')),
    name: asText(fieldOf(block, 'name')),
    input: isFilled ? JSON.stringify(input) : '',
  };
}

/** The whole block in the place of its first frame, and nothing in that of the others. */
function standInFrames({ message }: HeldFrame, { text, standIn }: Refusal): Buffer[] {
  if (fieldOf(message, 'type') !== 'content_block_start') return [];
  const index = fieldOf(message, 'index');
  const block = fieldOf(message, 'content_block') as object;
  const start = standIn ? { ...block, name: standIn.tool, input: {} } : { type: 'text', text: '' };
  const delta = standIn
    ? { type: 'input_json_delta', partial_json: JSON.stringify(standIn.input) }
    : { type: 'text_delta', text };
  return [
    { type: 'content_block_start', index, content_block: start },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ].map((frame) => Buffer.from(namedFrame(frame)));
}

const replacedBlock = (block: unknown, { text, standIn }: Refusal): object =>
  standIn
    ? { ...(block as object), name: standIn.tool, input: standIn.input }
    : { type: 'text', text };

function withoutCalls({ message }: HeldFrame): Buffer {
  const delta = { ...(fieldOf(message, 'delta') as object), stop_reason: 'end_turn' };
  return Buffer.from(namedFrame({ type: 'message_delta', ...(message as object), delta }));
}
