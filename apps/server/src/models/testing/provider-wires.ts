/**
 * The providers’ streams as they are on the wire. Every function returns server-sent events, ready
 * to write.
 */

export interface WireCall {
  id: string;
  name: string;
  /** As the model wrote it, which is not necessarily JSON. */
  input: string;
  /** In OpenAI’s Responses, the namespace of its tool. */
  namespace?: string;
  /** In OpenAI’s Responses, a call whose input is a text of the tool’s own. */
  isCustom?: boolean;
}

export interface WireReply {
  text?: string;
  reasoning?: string;
  calls?: readonly WireCall[];
  finish?: string;
  usage?: { input: number; cached?: number; cacheWrite?: number; output: number };
}

export interface ProviderWire {
  provider: 'openai' | 'anthropic' | 'google' | 'openai-compatible';
  model: string;
  environment(url: string): Record<string, string>;
  reply(reply: WireReply): string[];
  /** The body of an answer with a status of 400 or above. */
  error(message: string, type?: string): object;
}

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: { type: string }): string => `event: ${value.type}\n${data(value)}`;
const usual = { input: 120, cached: 20, cacheWrite: 0, output: 9 };

/** A text in two pieces, as deltas arrive. */
const halves = (text: string): string[] => [
  text.slice(0, Math.ceil(text.length / 2)),
  text.slice(Math.ceil(text.length / 2)),
];

export const chatCompletions: ProviderWire = {
  provider: 'openai-compatible',
  model: 'openai-compatible:local',
  environment: (url) => ({
    OPENAI_COMPATIBLE_BASE_URL: `${url}/v1`,
    OPENAI_COMPATIBLE_API_KEY: 'key-1',
  }),
  error: (message, type = 'invalid_request_error') => ({
    error: { message, type, param: null, code: type },
  }),
  reply({ text, reasoning, calls = [], finish, usage = usual }) {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      data({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'local',
        choices: [{ index: 0, delta, finish_reason }],
      });
    return [
      chunk({ role: 'assistant', content: '' }),
      ...halves(reasoning ?? '').map((part) => chunk({ reasoning_content: part })),
      ...halves(text ?? '').map((part) => chunk({ content: part })),
      ...calls.flatMap(({ id, name, input }, index) => [
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
        ...halves(input).map((part) =>
          chunk({ tool_calls: [{ index, function: { arguments: part } }] }),
        ),
      ]),
      chunk({}, finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
      data({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'local',
        choices: [],
        usage: {
          prompt_tokens: usage.input,
          completion_tokens: usage.output,
          total_tokens: usage.input + usage.output,
          prompt_tokens_details: { cached_tokens: usage.cached ?? 0 },
        },
      }),
      'data: [DONE]\n\n',
    ];
  },
};

export const openaiResponses: ProviderWire = {
  provider: 'openai',
  model: 'openai:gpt-5',
  environment: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'key-1' }),
  error: (message, type = 'invalid_request_error') => ({
    error: { message, type, param: null, code: type },
  }),
  reply({ text, reasoning, calls = [], finish, usage = usual }) {
    const items = [
      ...(reasoning === undefined ? [] : [reasoningItem(reasoning)]),
      ...(text === undefined ? [] : [textItem(text)]),
      ...calls.map(callItem),
    ];
    const isCut = finish === 'length';
    const events: StreamEvent[] = [
      {
        type: 'response.created',
        response: { id: 'resp_1', created_at: 1, model: 'gpt-5' },
      },
      ...items.flatMap((eventsAt, index) => eventsAt(index)),
      {
        type: isCut ? 'response.incomplete' : 'response.completed',
        response: {
          id: 'resp_1',
          ...(isCut && { incomplete_details: { reason: 'max_output_tokens' } }),
          usage: {
            input_tokens: usage.input,
            input_tokens_details: { cached_tokens: usage.cached ?? 0 },
            output_tokens: usage.output,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: usage.input + usage.output,
          },
        },
      },
    ];
    return events.map(named);
  },
};

interface StreamEvent {
  type: string;
  [field: string]: unknown;
}

/** The events of an output item, given its index. */
type OutputItem = (index: number) => StreamEvent[];

const itemEvent = (change: 'added' | 'done', index: number, item: object): StreamEvent => ({
  type: `response.output_item.${change}`,
  output_index: index,
  item,
});

function reasoningItem(reasoning: string): OutputItem {
  const item = { type: 'reasoning', id: 'rs_1', summary: [] };
  const summary = { type: 'summary_text', text: reasoning };
  return (index) => {
    const at = { item_id: 'rs_1', output_index: index, summary_index: 0 };
    return [
      itemEvent('added', index, { ...item, encrypted_content: 'sealed-0' }),
      {
        type: 'response.reasoning_summary_part.added',
        ...at,
        part: { type: 'summary_text', text: '' },
      },
      ...halves(reasoning).map((delta) => ({
        type: 'response.reasoning_summary_text.delta',
        ...at,
        delta,
      })),
      { type: 'response.reasoning_summary_part.done', ...at, part: summary },
      itemEvent('done', index, { ...item, encrypted_content: 'sealed-1', summary: [summary] }),
    ];
  };
}

function textItem(text: string): OutputItem {
  const item = { type: 'message', id: 'msg_1', role: 'assistant' };
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }];
  return (index) => {
    const at = { item_id: 'msg_1', output_index: index, content_index: 0 };
    return [
      itemEvent('added', index, { ...item, status: 'in_progress', content: [] }),
      ...halves(text).map((delta) => ({
        type: 'response.output_text.delta',
        ...at,
        delta,
        logprobs: [],
      })),
      itemEvent('done', index, { ...item, status: 'completed', content }),
    ];
  };
}

function callItem({ id, name, input, namespace, isCustom }: WireCall): OutputItem {
  const [type, field, piece] = isCustom
    ? ['custom_tool_call', 'input', 'response.custom_tool_call_input']
    : ['function_call', 'arguments', 'response.function_call_arguments'];
  const item = { type, id: `fc_${id}`, call_id: id, name, ...(namespace && { namespace }) };
  return (index) => {
    const at = { item_id: item.id, output_index: index };
    return [
      itemEvent('added', index, { ...item, [field]: '', status: 'in_progress' }),
      ...halves(input).map((delta) => ({ type: `${piece}.delta`, ...at, delta })),
      { type: `${piece}.done`, ...at, [field]: input },
      itemEvent('done', index, { ...item, [field]: input, status: 'completed' }),
    ];
  };
}

export const anthropicMessages: ProviderWire = {
  provider: 'anthropic',
  model: 'anthropic:claude-sonnet-4-5',
  environment: (url) => ({ ANTHROPIC_BASE_URL: `${url}/v1`, ANTHROPIC_API_KEY: 'key-1' }),
  error: (message, type = 'invalid_request_error') => ({ type: 'error', error: { type, message } }),
  reply({ text, reasoning, calls = [], finish, usage = usual }) {
    let index = -1;
    const block = (content_block: object, deltas: object[]) => {
      index += 1;
      return [
        { type: 'content_block_start', index, content_block },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ];
    };
    const cached = usage.cached ?? 0;
    const cacheWrite = usage.cacheWrite ?? 0;
    return [
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude-sonnet-4-5',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: {
            input_tokens: usage.input - cached - cacheWrite,
            cache_read_input_tokens: cached,
            cache_creation_input_tokens: cacheWrite,
            output_tokens: 1,
          },
        },
      },
      { type: 'ping' },
      ...(reasoning === undefined
        ? []
        : block({ type: 'thinking', thinking: '', signature: '' }, [
            ...halves(reasoning).map((thinking) => ({ type: 'thinking_delta', thinking })),
            { type: 'signature_delta', signature: 'signed-1' },
          ])),
      ...(text === undefined
        ? []
        : block(
            { type: 'text', text: '' },
            halves(text).map((part) => ({ type: 'text_delta', text: part })),
          )),
      ...calls.flatMap(({ id, name, input }) =>
        block(
          { type: 'tool_use', id, name, input: {} },
          halves(input).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
        ),
      ),
      {
        type: 'message_delta',
        delta: {
          stop_reason: finish ?? (calls.length > 0 ? 'tool_use' : 'end_turn'),
          stop_sequence: null,
        },
        usage: { output_tokens: usage.output },
      },
      { type: 'message_stop' },
    ].map(named);
  },
};

/** Gemini sends the input of a call as one object, so it cannot be incomplete or malformed JSON. */
export const googleGenerate: ProviderWire = {
  provider: 'google',
  model: 'google:gemini-2.5-pro',
  environment: (url) => ({
    GOOGLE_BASE_URL: `${url}/v1beta`,
    GOOGLE_GENERATIVE_AI_API_KEY: 'key-1',
  }),
  error: (message, type = 'INVALID_ARGUMENT') => ({ error: { code: 400, message, status: type } }),
  reply({ text, reasoning, calls = [], finish, usage = usual }) {
    const chunk = (parts: object[], more: object = {}) =>
      data({
        candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
        modelVersion: 'gemini-2.5-pro',
      });
    const counts = {
      promptTokenCount: usage.input,
      cachedContentTokenCount: usage.cached ?? 0,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
    };
    return [
      ...(reasoning === undefined
        ? []
        : halves(reasoning).map((part) => chunk([{ text: part, thought: true }]))),
      ...(text === undefined ? [] : halves(text).map((part) => chunk([{ text: part }]))),
      ...calls.map(({ id, name, input }, at) =>
        chunk([
          {
            functionCall: { id, name, args: JSON.parse(input) as unknown },
            ...(at === 0 && { thoughtSignature: 'signed-1' }),
          },
        ]),
      ),
      data({
        candidates: [
          {
            index: 0,
            content: { role: 'model', parts: [{ text: '' }] },
            finishReason: finish ?? 'STOP',
          },
        ],
        usageMetadata: counts,
      }),
    ];
  },
};

export const wires: readonly ProviderWire[] = [
  chatCompletions,
  openaiResponses,
  anthropicMessages,
  googleGenerate,
];
