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
import { nameIn } from './name-in-namespace.js';
import { openaiError } from './openai-error.js';
import { namedFrame, type WireFormat } from './wire-format.js';

/** Tools of OpenAI that its clients run. Whatever has another type runs at OpenAI. */
const clientTools = /^(function|custom|local_shell|apply_patch|computer|computer_use_preview)$/;

/** OpenAI’s Responses API: https://platform.openai.com/docs/api-reference/responses. */
export const responsesFormat: WireFormat = {
  name: 'responses',
  read(body) {
    if (body.has('background'))
      throw new AppError(
        'invalid_input',
        'Belay does not pass on background responses: send the request without `background`.',
      );
    if (body.has('prompt'))
      throw new AppError(
        'invalid_input',
        'Belay does not pass on stored prompts, whose tools it cannot see: send `input` and `tools`.',
      );
    const input = body.get('input');
    const { own, hosted } = toolsIn([...listOf(body.get('tools')), ...addedTools(input)]);
    return {
      models: [asText(body.get('model'))],
      isStream: body.get('stream') === true,
      maxOutput: countOf(body.get('max_output_tokens')) || null,
      messages: Array.isArray(input) ? input.length : 1,
      tools: own,
      hosted,
    };
  },
  usageIn(message) {
    const usage = fieldAt(message, 'response', 'usage') ?? fieldOf(message, 'usage');
    return isObject(usage) ? usage : undefined;
  },
  tokensOf: (usage) => ({
    input: countOf(usage['input_tokens']),
    cached: countOf(fieldAt(usage, 'input_tokens_details', 'cached_tokens')),
    cacheWrite: 0,
    output: countOf(usage['output_tokens']),
  }),
  written: (message) => asText(fieldOf(message, 'delta')).length,
  error: openaiError,
  // Some clients try again after any code that they do not know.
  streamError: (message) =>
    namedFrame({
      type: 'response.failed',
      response: { id: 'belay', status: 'failed', error: { code: 'insufficient_quota', message } },
    }),
};

/** Some clients name their tools in an item of the input. */
const addedTools = (input: unknown): unknown[] =>
  listOf(input).flatMap((each) => {
    const item = new RequestFields(each);
    return item.get('type') === 'additional_tools' ? listOf(item.get('tools')) : [];
  });

/** A namespace holds tools of its own, whose names are those of their calls. */
function toolsIn(list: readonly unknown[], within = ''): { own: string[]; hosted: string[] } {
  const own: string[] = [];
  const hosted: string[] = [];
  for (const each of list) {
    const tool = new RequestFields(each);
    const type = asText(tool.get('type') ?? 'function');
    if (type === 'namespace') {
      const inner = toolsIn(listOf(tool.get('tools')), asText(tool.get('name')));
      own.push(...inner.own);
      hosted.push(...inner.hosted);
    } else if (clientTools.test(type) || isLocal(type, tool))
      own.push(nameIn(within, asText(tool.get('name')) || type));
    else hosted.push(type);
  }
  return { own, hosted };
}

/** These run at the client only if the request says so. */
const isLocal = (type: string, tool: RequestFields): boolean =>
  (type === 'shell' && fieldOf(tool.get('environment'), 'type') === 'local') ||
  (type === 'tool_search' && tool.get('execution') === 'client');
