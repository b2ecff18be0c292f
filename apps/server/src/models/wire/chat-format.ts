import { AppError } from '@belay/protocol';
import {
  countOf,
  fieldAt,
  fieldOf,
  isObject,
  listOf,
  RequestFields,
  asText,
} from './json-fields.js';
import { openaiError } from './openai-error.js';
import { dataFrame, type WireFormat } from './wire-format.js';

/** Fields with which servers of this format search the web or run other tools of theirs. */
const hostedFields = ['web_search_options', 'search_parameters', 'plugins', 'compound_custom'];

/**
 * OpenAI’s Chat Completions, which most other servers speak, too:
 * https://platform.openai.com/docs/api-reference/chat.
 */
export const chatFormat: WireFormat = {
  name: 'chat',
  read(body) {
    const count = body.get('n');
    if (count !== undefined && count !== null && count !== 1)
      throw new AppError(
        'invalid_input',
        'Belay passes on requests for one reply only: send the request without `n`.',
      );
    const tools = [
      ...listOf(body.get('tools')).map((tool) => new RequestFields(tool)),
      ...listOf(body.get('functions')).map((tool) => new RequestFields({ function: tool })),
    ];
    const typeOf = (tool: RequestFields): string => asText(tool.get('type') ?? 'function');
    const isOwn = (tool: RequestFields): boolean => ['function', 'custom'].includes(typeOf(tool));
    return {
      models: [asText(body.get('model')), ...listOf(body.get('models')).map(asText)],
      isStream: body.get('stream') === true,
      maxOutput: countOf(body.get('max_completion_tokens') ?? body.get('max_tokens')) || null,
      messages: listOf(body.get('messages')).length,
      tools: tools.filter(isOwn).map((tool) => asText(fieldOf(tool.get(typeOf(tool)), 'name'))),
      hosted: [
        ...tools.filter((tool) => !isOwn(tool)).map(typeOf),
        ...hostedFields.filter((name) => body.has(name)),
      ],
    };
  },
  usageIn(message) {
    const usage = fieldOf(message, 'usage');
    return isObject(usage) ? usage : undefined;
  },
  tokensOf: (usage) => ({
    input: countOf(usage['prompt_tokens']),
    cached: countOf(fieldAt(usage, 'prompt_tokens_details', 'cached_tokens')),
    cacheWrite: 0,
    output: countOf(usage['completion_tokens']),
  }),
  written: (message) =>
    listOf(fieldOf(message, 'choices')).reduce(
      (sum: number, choice) => sum + lengthOf(fieldOf(choice, 'delta')),
      0,
    ),
  error: openaiError,
  streamError: (message) => dataFrame(openaiError(403, message)),
};

function lengthOf(delta: unknown): number {
  const texts = [
    ...['content', 'reasoning_content', 'reasoning'].map((name) => fieldOf(delta, name)),
    ...listOf(fieldOf(delta, 'tool_calls')).map((call) => fieldAt(call, 'function', 'arguments')),
  ];
  return texts.reduce((sum: number, text) => sum + asText(text).length, 0);
}
