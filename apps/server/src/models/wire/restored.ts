import { AppError, type EventArgs, type WireFormatName } from '@belay/protocol';
import { isDeepStrictEqual } from 'node:util';
import { withEdits, jsonSpans, type Edit } from './json-spans.js';
import { editsOfTexts, itemOf, outputTypeOf } from './restored-texts.js';
import { SpannedText } from './spanned-text.js';

export type ReplacedCall = EventArgs<'replaced'>;

/**
 * A request with the model’s own calls in the place of what stands in for them, so that the provider sees the
 * conversation as it was: the call that it made, and as its result that it was not allowed. All other bytes stay.
 */
export function restored(
  text: string,
  format: WireFormatName,
  calls: readonly ReplacedCall[],
): string {
  const own = calls.filter((call) => call.format === format);
  const standIns = own.filter(({ call, tool }) => tool !== null && text.includes(call || tool));
  const texts = own.filter(({ tool }) => tool === null);
  if (standIns.length + texts.length === 0) return text;
  try {
    const request = new SpannedText(text, jsonSpans(text));
    return withEdits(text, [
      ...edits[format](request, standIns),
      ...editsOfTexts(request, format, texts),
    ]);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new AppError('invalid_input', 'The body of the request is nested too deeply.');
  }
}

type Editor = (request: SpannedText, calls: readonly ReplacedCall[]) => Edit[];

const edits: Readonly<Record<WireFormatName, Editor>> = {
  messages: (request, calls) =>
    partsOf(request.at('messages'), 'content').flatMap((block) => {
      if (block.at('type').value !== 'tool_use') return [];
      const call = withId(calls, block.at('id').value);
      return call
        ? [...block.at('name').by(quoted(call.name)), ...block.at('input').by(call.input || '{}')]
        : [];
    }),
  responses: (request, calls) =>
    request.at('input').items.flatMap((item) => {
      const call = withId(calls, item.at('call_id').value);
      const type = item.at('type').value;
      if (!call) return [];
      if (type === 'function_call_output' || type === 'custom_tool_call_output')
        return item.at('type').by(quoted(outputTypeOf(call)));
      if (type === 'custom_tool_call' || (type === 'function_call' && call.item !== undefined))
        return item.by(itemOf(call));
      if (type !== 'function_call') return [];
      return [
        ...item.at('name').by(quoted(call.name)),
        ...item.at('arguments').by(quoted(call.input)),
      ];
    }),
  chat: (request, calls) =>
    partsOf(request.at('messages'), 'tool_calls').flatMap((part) => {
      const call = withId(calls, part.at('id').value);
      const own = part.at('function');
      return call
        ? [...own.at('name').by(quoted(call.name)), ...own.at('arguments').by(quoted(call.input))]
        : [];
    }),
  gemini: (request, calls) => {
    const contents = request.at('contents').items;
    return contents.flatMap((content, index) =>
      callsOf(content, 'functionCall').flatMap((own, at) => {
        const call = calls.find((one) => isStandIn(own, one));
        if (!call) return [];
        // Results have the names of their calls, in the same order.
        const next = contents[index + 1];
        const result = next && callsOf(next, 'functionResponse')[at];
        return [
          ...own.at('name').by(quoted(call.name)),
          ...own.at('args').by(call.input),
          ...(result?.at('name').by(quoted(call.name)) ?? []),
        ];
      }),
    );
  },
};

const partsOf = (list: SpannedText, name: string): SpannedText[] =>
  list.items.flatMap((item) => item.at(name).items);

const callsOf = (content: SpannedText, name: string): SpannedText[] =>
  content
    .at('parts')
    .items.map((part) => part.at(name))
    .filter(({ span }) => span !== undefined);

const withId = (calls: readonly ReplacedCall[], id: unknown): ReplacedCall | undefined =>
  typeof id === 'string' && id !== '' ? calls.find(({ call }) => call === id) : undefined;

/** By its id, or if the provider gave none, by what it says. */
function isStandIn(own: SpannedText, { call, tool, standIn }: ReplacedCall): boolean {
  if (call !== '') return own.at('id').value === call;
  return own.at('name').value === tool && isDeepStrictEqual(own.at('args').value, standIn);
}

const quoted = (text: string): string => JSON.stringify(text);
