import { fieldAt, fieldOf, isObject, listOf, asText } from './json-fields.js';
import {
  wholeCall,
  type CallFormat,
  type CallReader,
  type HeldFrame,
  type Refusal,
  type Refusals,
  type HeldCall,
} from './held-call.js';
import { nameIn } from './name-in-namespace.js';
import { namedFrame } from './wire-format.js';

/** Calls that OpenAI runs itself. Any other item named as a call is one of the client. */
const hosted =
  /^(web_search|file_search|code_interpreter|image_generation|mcp|mcp_list_tools)_call$/;

const isCallItem = (item: unknown): boolean => {
  const type = asText(fieldOf(item, 'type'));
  return type.endsWith('_call') && !hosted.test(type);
};

/** Calls in OpenAI’s Responses: an output item for each, which the end of the response repeats. */
export const responsesCalls: CallFormat = {
  reader: () => new ItemReader(),
  replaced(frames, refusals) {
    const begun = new Set<string>();
    return frames.flatMap((frame) => {
      const output = fieldAt(frame.message, 'response', 'output');
      if (Array.isArray(output)) return [replacedEnd(frame, output, refusals)];
      const key = frame.keys[0] ?? '';
      const refusal = refusals.refused.get(key);
      if (!refusal) return [frame.bytes];
      if (begun.has(key)) return [];
      begun.add(key);
      return standInFrames(frame, refusal);
    });
  },
  callsIn: (body) => callsInOutput(listOf(fieldOf(body, 'output'))),
  replacedBody: (body, refusals) => ({
    ...(body as object),
    output: replacedOutput(listOf(fieldOf(body, 'output')), refusals),
  }),
};

class ItemReader implements CallReader {
  readonly calls = new Map<string, HeldCall>();
  /** The inputs of calls as their pieces say. */
  readonly #pieces = new Map<string, string>();

  read(message: unknown): string[] {
    const output = fieldAt(message, 'response', 'output');
    if (Array.isArray(output)) return this.#readEnd(output);
    const item = fieldOf(message, 'item');
    const key = String(fieldOf(message, 'output_index'));
    if (!isCallItem(item)) return this.#readPiece(key, message);
    const call = callOfItem(item, key);
    const isWhole = fieldOf(message, 'type') === 'response.output_item.done';
    const pieces = this.#pieces.get(key);
    // Programs read either; a call that says two things is none that can be allowed.
    const isTwo = isWhole && pieces !== undefined && pieces !== plainInput(item, call);
    this.calls.set(key, { ...call, isWhole, ...(isTwo && { input: 'two inputs' }) });
    return [key];
  }

  #readPiece(key: string, message: unknown): string[] {
    if (!this.calls.has(key)) return [];
    const type = asText(fieldOf(message, 'type'));
    if (type.endsWith('.delta') && typeof fieldOf(message, 'delta') === 'string')
      this.#pieces.set(key, (this.#pieces.get(key) ?? '') + asText(fieldOf(message, 'delta')));
    const whole = fieldOf(message, 'arguments') ?? fieldOf(message, 'input');
    if (typeof whole === 'string' && (this.#pieces.get(key) ?? whole) === whole)
      this.#pieces.set(key, whole);
    else if (typeof whole === 'string') this.#pieces.set(key, 'two inputs');
    return [key];
  }

  /** A call that no earlier frame named is one all the same. */
  #readEnd(output: readonly unknown[]): string[] {
    return callsInOutput(output).map((call) => {
      const known = this.calls.get(call.key);
      const isSame =
        known?.id === call.id && known.name === call.name && known.input === call.input;
      if (!isSame) this.calls.set(call.key, call);
      return call.key;
    });
  }
}

const callsInOutput = (output: readonly unknown[]): HeldCall[] =>
  output.flatMap((item, index) =>
    isCallItem(item) ? wholeCall(callOfItem(item, String(index))) : [],
  );

/** The input as its pieces spell it. */
const plainInput = (item: unknown, { input }: Pick<HeldCall, 'input'>): string => {
  const custom = fieldOf(item, 'input');
  return typeof custom === 'string' ? custom : input;
};

function callOfItem(item: unknown, key: string): Omit<HeldCall, 'isWhole'> {
  const type = asText(fieldOf(item, 'type'));
  const id = asText(fieldOf(item, 'call_id')) || asText(fieldOf(item, 'id'));
  const namespace = asText(fieldOf(item, 'namespace'));
  const name = nameIn(namespace, asText(fieldOf(item, 'name')) || type);
  const whole = JSON.stringify(item);
  if (type === 'function_call') {
    const input = asText(fieldOf(item, 'arguments'));
    return { key, id, name, input, ...(namespace !== '' && { item: whole }) };
  }
  const {
    type: _type,
    id: _id,
    call_id: _call,
    status: _status,
    name: _name,
    namespace: _namespace,
    ...input
  } = item as Record<string, unknown>;
  return { key, id, name, input: JSON.stringify(input), item: whole };
}

/** The same item as the call or the text that stands in for it. */
function standInItem(item: unknown, { text, standIn }: Refusal): Record<string, unknown> {
  const id = fieldOf(item, 'id');
  if (!standIn) {
    const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }];
    return { id, type: 'message', role: 'assistant', status: 'completed', content };
  }
  const { tool: name, input } = standIn;
  const call = { id, status: 'completed', call_id: fieldOf(item, 'call_id') ?? id, name };
  return typeof input === 'string'
    ? { ...call, type: 'custom_tool_call', input }
    : { ...call, type: 'function_call', arguments: JSON.stringify(input) };
}

/** All frames of an item in the place of the first one. */
function standInFrames({ message }: HeldFrame, refusal: Refusal): Buffer[] {
  const item = standInItem(fieldOf(message, 'item'), refusal);
  const output_index = fieldOf(message, 'output_index');
  const first = fieldOf(message, 'sequence_number');
  const at = { item_id: item['id'], output_index };
  const [empty, body] = piecesOf(item, at, refusal.text);
  const frames = [
    {
      type: 'response.output_item.added',
      output_index,
      item: { ...item, status: 'in_progress', ...empty },
    },
    ...body,
    { type: 'response.output_item.done', output_index, item },
  ];
  return frames.map((frame, index) => {
    const number = typeof first === 'number' ? { sequence_number: first + index } : {};
    return Buffer.from(namedFrame({ ...frame, ...number }));
  });
}

/** What an item lacks at first, and the frames that add it. */
function piecesOf(
  { type, arguments: json, input }: Record<string, unknown>,
  at: object,
  text: string,
): [object, { type: string }[]] {
  if (type === 'function_call')
    return [
      { arguments: '' },
      [frame('response.function_call_arguments.done', { ...at, arguments: json })],
    ];
  if (type === 'custom_tool_call')
    return [{ input: '' }, [frame('response.custom_tool_call_input.done', { ...at, input })]];
  return [{ content: [] }, textFrames(at, text)];
}

const frame = (type: string, fields: object): { type: string } => ({ type, ...fields });

function textFrames(at: object, text: string) {
  const place = { ...at, content_index: 0 };
  const part = { type: 'output_text', text, annotations: [], logprobs: [] };
  return [
    { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...place, delta: text, logprobs: [] },
    { type: 'response.output_text.done', ...place, text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
  ];
}

function replacedEnd(
  { message, bytes, keys }: HeldFrame,
  output: unknown[],
  refusals: Refusals,
): Buffer {
  if (!keys.some((key) => refusals.refused.has(key)) || !isObject(message)) return bytes;
  const response = { ...(message['response'] as object), output: replacedOutput(output, refusals) };
  return Buffer.from(namedFrame({ type: asText(message['type']), ...message, response }));
}

const replacedOutput = (output: readonly unknown[], { refused }: Refusals): unknown[] =>
  output.map((item, index) => {
    const refusal = refused.get(String(index));
    return refusal && isCallItem(item) ? standInItem(item, refusal) : item;
  });
