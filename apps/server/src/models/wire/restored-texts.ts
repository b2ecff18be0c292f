import type { EventArgs, WireFormatName } from '@belay/protocol';
import type { Edit } from './json-spans.js';
import { SpannedText } from './spanned-text.js';

type ReplacedCall = EventArgs<'replaced'>;
/** The next call whose refusal is such a text. */
type Take = (isIt: (text: string) => boolean) => ReplacedCall | undefined;

/**
 * Puts calls back whose refusals stood in the model’s reply as texts, with these texts as their results. A text that the
 * program has changed stays as it is.
 */
export function editsOfTexts(
  request: SpannedText,
  format: WireFormatName,
  calls: readonly ReplacedCall[],
): Edit[] {
  const left = [...calls];
  const take: Take = (isIt) => {
    const at = left.findIndex(({ text }) => isIt(text));
    return at < 0 ? undefined : left.splice(at, 1)[0];
  };
  return editors[format](request, take);
}

const editors: Readonly<Record<WireFormatName, (request: SpannedText, take: Take) => Edit[]>> = {
  messages: (request, take) =>
    withNext(request.at('messages').items).flatMap(([message, next]) => {
      if (message.at('role').value !== 'assistant' || next?.at('role').value !== 'user') return [];
      const found = partsFrom(message.at('content').items, take);
      const results = found.map(({ call: { call, text } }) =>
        JSON.stringify({ type: 'tool_result', tool_use_id: call, is_error: true, content: text }),
      );
      return [
        ...found.flatMap(({ part, call: { call, name, input } }) =>
          part.by(
            `{"type":"tool_use","id":${quoted(call)},"name":${quoted(name)},"input":${input || '{}'}}`,
          ),
        ),
        ...withFirst(next.at('content'), results),
      ];
    }),
  responses: (request, take) =>
    request.at('input').items.flatMap((item) => {
      if (item.at('role').value !== 'assistant') return [];
      const [part, ...others] = item.at('content').items;
      const text = part && others.length === 0 ? part.at('text') : item.at('content');
      const call = callFrom(text, take);
      return call ? item.by(`${itemOf(call)},${outputOf(call)}`) : [];
    }),
  chat: (request, take) =>
    request.at('messages').items.flatMap((message) => {
      const content = message.at('content');
      let text = content.value;
      if (message.at('role').value !== 'assistant' || typeof text !== 'string') return [];
      const found: ReplacedCall[] = [];
      const isIn = (refusal: string): boolean => String(text).includes(refusal);
      for (let call = take(isIn); call; call = take(isIn)) {
        text = String(text).replace(call.text, () => '');
        found.push(call);
      }
      if (found.length === 0) return [];
      const calls = found.map(({ call: id, name, input }) =>
        JSON.stringify({ id, type: 'function', function: { name, arguments: input } }),
      );
      const results = found.map(
        ({ call: id, text: refusal }) =>
          `,${JSON.stringify({ role: 'tool', tool_call_id: id, content: refusal })}`,
      );
      const last = message.at('tool_calls').items.at(-1);
      const plain = text === '' ? 'null' : quoted(String(text));
      return [
        ...content.by(last ? plain : `${plain},"tool_calls":[${calls.join()}]`),
        ...(last?.beside('after', `,${calls.join()}`) ?? []),
        ...message.beside('after', results.join('')),
      ];
    }),
  gemini: (request, take) =>
    withNext(request.at('contents').items).flatMap(([content, next]) => {
      if (content.at('role').value !== 'model' || next?.at('role').value !== 'user') return [];
      const found = partsFrom(content.at('parts').items, take);
      const results = found.map(({ call: { call: id, name, text } }) =>
        JSON.stringify({
          functionResponse: { ...(id && { id }), name, response: { error: text } },
        }),
      );
      return [
        ...found.flatMap(({ part, call: { call: id, name, input } }) => {
          const signature = part.at('thoughtSignature').text;
          const idField = id ? `"id":${quoted(id)},` : '';
          const own = `"functionCall":{${idField}"name":${quoted(name)},"args":${input || '{}'}}`;
          return part.by(`{${own}${signature ? `,"thoughtSignature":${signature}` : ''}}`);
        }),
        ...withFirst(next.at('parts'), results),
      ];
    }),
};

const withNext = (items: readonly SpannedText[]): [SpannedText, SpannedText | undefined][] =>
  items.map((item, index) => [item, items[index + 1]]);

const callFrom = ({ value }: SpannedText, take: Take): ReplacedCall | undefined =>
  typeof value === 'string' ? take((refusal) => refusal === value) : undefined;

const partsFrom = (
  parts: readonly SpannedText[],
  take: Take,
): { part: SpannedText; call: ReplacedCall }[] =>
  parts.flatMap((part) => {
    const call = callFrom(part.at('text'), take);
    return call ? [{ part, call }] : [];
  });

/** Puts results before everything else in a message. */
function withFirst(content: SpannedText, results: readonly string[]): Edit[] {
  if (results.length === 0) return [];
  const [first] = content.items;
  if (first) return first.beside('before', `${results.join()},`);
  const isText = typeof content.value === 'string';
  const rest = isText ? `,{"type":"text","text":${content.text}}` : '';
  return content.by(`[${results.join()}${rest}]`);
}

/** A call as an item of Responses. */
export const itemOf = ({ item, call, name, input }: ReplacedCall): string =>
  item ?? JSON.stringify({ type: 'function_call', call_id: call, name, arguments: input });

/** The type of the item with its result. */
export const outputTypeOf = ({ item = '{"type":"function_call"}' }: ReplacedCall): string =>
  `${(JSON.parse(item) as { type: string }).type}_output`;

const outputOf = (call: ReplacedCall): string =>
  JSON.stringify({ type: outputTypeOf(call), call_id: call.call, output: call.text });

const quoted = (text: string): string => JSON.stringify(text);
