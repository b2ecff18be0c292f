import type { EventArgs, WireFormatName } from '@belay/protocol';
import type { Edit } from './json-spans.js';
import { SpannedText } from './spanned-text.js';

type ReplacedCall = EventArgs<'replaced'>;
/** The next call whose refusal is such a text. */
type Take = (isIt: (text: string) => boolean) => ReplacedCall | undefined;
/** Calls whose refusals are in one text, which a program may have joined with others, and what else it says. */
interface Found {
  calls: ReplacedCall[];
  left: string;
}

/**
 * Puts calls back whose refusals stood in the model’s reply as texts, with these texts as their results. Each comes back
 * once at most. A text that the program has changed stays as it is.
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
      const content = message.at('content');
      const found = textsWithCalls(content.items, take);
      const whole = foundIn(content, take);
      const calls = [...(whole?.calls ?? []), ...found.flatMap((one) => one.calls)];
      const results = calls.map(({ call, text }) =>
        JSON.stringify({ type: 'tool_result', tool_use_id: call, is_error: true, content: text }),
      );
      return [
        ...(whole ? content.by(`[${blocksOf(whole)}]`) : []),
        ...found.flatMap(({ part, ...one }) => {
          if (one.left === '') return part.by(blocksOf(one));
          const after = `,${blocksOf({ ...one, left: '' })}`;
          return [...part.at('text').by(quoted(one.left)), ...part.beside('after', after)];
        }),
        ...withFirst(next.at('content'), results),
      ];
    }),
  responses: (request, take) =>
    request.at('input').items.flatMap((item) => {
      if (item.at('role').value !== 'assistant') return [];
      const [part, ...others] = item.at('content').items;
      const text = part && others.length === 0 ? part.at('text') : item.at('content');
      const found = foundIn(text, take);
      if (!found) return [];
      const pairs = found.calls.map((call) => `${itemOf(call)},${outputOf(call)}`).join();
      if (found.left === '') return item.by(pairs);
      return [...text.by(quoted(found.left)), ...item.beside('after', `,${pairs}`)];
    }),
  chat: (request, take) =>
    request.at('messages').items.flatMap((message) => {
      const content = message.at('content');
      if (message.at('role').value !== 'assistant') return [];
      const found = foundIn(content, take);
      if (!found) return [];
      const calls = found.calls.map(({ call: id, name, input }) =>
        JSON.stringify({ id, type: 'function', function: { name, arguments: input } }),
      );
      const results = found.calls.map(
        ({ call: id, text: refusal }) =>
          `,${JSON.stringify({ role: 'tool', tool_call_id: id, content: refusal })}`,
      );
      const last = message.at('tool_calls').items.at(-1);
      const plain = found.left === '' ? 'null' : quoted(found.left);
      return [
        ...content.by(last ? plain : `${plain},"tool_calls":[${calls.join()}]`),
        ...(last?.beside('after', `,${calls.join()}`) ?? []),
        ...message.beside('after', results.join('')),
      ];
    }),
  gemini: (request, take) =>
    withNext(request.at('contents').items).flatMap(([content, next]) => {
      if (content.at('role').value !== 'model' || next?.at('role').value !== 'user') return [];
      const found = textsWithCalls(content.at('parts').items, take);
      const results = found
        .flatMap(({ calls }) => calls)
        .map(({ call: id, name, text }) =>
          JSON.stringify({
            functionResponse: { ...(id && { id }), name, response: { error: text } },
          }),
        );
      return [
        ...found.flatMap(({ part, calls, left }) => {
          const signature = part.at('thoughtSignature').text;
          const own = calls.map(({ call: id, name, input }, at) => {
            const idField = id ? `"id":${quoted(id)},` : '';
            const call = `"functionCall":{${idField}"name":${quoted(name)},"args":${input || '{}'}}`;
            // It is that of the first call of a step.
            return `{${call}${signature && at === 0 ? `,"thoughtSignature":${signature}` : ''}}`;
          });
          const said = left === '' ? [] : [JSON.stringify({ text: left })];
          return part.by([...said, ...own].join());
        }),
        ...withFirst(next.at('parts'), results),
      ];
    }),
};

const withNext = (items: readonly SpannedText[]): [SpannedText, SpannedText | undefined][] =>
  items.map((item, index) => [item, items[index + 1]]);

/** Undefined if the value is not a text in which a refusal stands. */
function foundIn({ value }: SpannedText, take: Take): Found | undefined {
  if (typeof value !== 'string') return undefined;
  const calls: ReplacedCall[] = [];
  let left = value;
  const next = () => take((refusal) => left.includes(refusal));
  for (let call = next(); call; call = next()) {
    left = left.replace(call.text, () => '');
    calls.push(call);
  }
  // Providers refuse texts of spaces alone.
  return calls.length > 0 ? { calls, left: left.trim() ? left : '' } : undefined;
}

const textsWithCalls = (
  parts: readonly SpannedText[],
  take: Take,
): (Found & { part: SpannedText })[] =>
  parts.flatMap((part) => {
    const found = foundIn(part.at('text'), take);
    return found ? [{ part, ...found }] : [];
  });

/** The blocks of Messages with what is said and the calls. */
const blocksOf = ({ calls, left }: Found): string =>
  [
    ...(left === '' ? [] : [JSON.stringify({ type: 'text', text: left })]),
    ...calls.map(
      ({ call, name, input }) =>
        `{"type":"tool_use","id":${quoted(call)},"name":${quoted(name)},"input":${input || '{}'}}`,
    ),
  ].join();

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
