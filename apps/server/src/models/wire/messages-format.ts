import {
  countOf,
  fieldAt,
  fieldOf,
  isObject,
  listOf,
  RequestFields,
  asText,
} from './json-fields.js';
import { namedFrame, type WireFormat } from './wire-format.js';

/** Tools of Anthropic that its clients run. Whatever has another type runs at Anthropic. */
const clientTools = /^(custom|(bash|text_editor|computer|memory|tool_search_tool_\w+)_\d+)$/;

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

/** Anthropic’s Messages API: https://docs.claude.com/en/api/messages. */
export const messagesFormat: WireFormat = {
  name: 'messages',
  read(body) {
    const tools = listOf(body.get('tools')).map((tool) => new RequestFields(tool));
    const typeOf = (tool: RequestFields): string => asText(tool.get('type') ?? 'custom');
    const hosted = tools.filter((tool) => !clientTools.test(typeOf(tool))).map(typeOf);
    return {
      models: [asText(body.get('model'))],
      isStream: body.get('stream') === true,
      maxOutput: countOf(body.get('max_tokens')) || null,
      messages: listOf(body.get('messages')).length,
      tools: tools
        .filter((tool) => clientTools.test(typeOf(tool)))
        .map((tool) => asText(tool.get('name'))),
      hosted: [...hosted, ...(body.has('mcp_servers') ? ['mcp_servers'] : [])],
    };
  },
  usageIn(message) {
    const usage = fieldOf(message, 'usage') ?? fieldAt(message, 'message', 'usage');
    return isObject(usage) ? usage : undefined;
  },
  tokensOf(usage) {
    const cached = countOf(usage['cache_read_input_tokens']);
    const cacheWrite = countOf(usage['cache_creation_input_tokens']);
    const hour = countOf(fieldAt(usage, 'cache_creation', 'ephemeral_1h_input_tokens'));
    return {
      input: countOf(usage['input_tokens']) + cached + cacheWrite,
      cached,
      cacheWrite,
      ...(hour > 0 && { cacheWriteHour: Math.min(hour, cacheWrite) }),
      output: countOf(usage['output_tokens']),
    };
  },
  written(message) {
    const delta = fieldOf(message, 'delta');
    return ['text', 'thinking', 'partial_json'].reduce(
      (sum, name) => sum + asText(fieldOf(delta, name)).length,
      0,
    );
  },
  error: (status, message) => ({
    type: 'error',
    error: { type: errorTypes[status] ?? 'api_error', message },
  }),
  streamError: (message) =>
    namedFrame({ type: 'error', error: { type: 'permission_error', message } }),
};
