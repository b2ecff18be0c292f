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
import { dataFrame, type WireFormat } from './wire-format.js';

/** Fields of a tool that its client runs; the API takes camel case and underscores. */
const clientTools = new Set(['functiondeclarations', 'computeruse']);

const statuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

const geminiError = (code: number, message: string): object => ({
  error: { code, message, status: statuses[code] ?? 'INTERNAL' },
});

/** Gemini’s `generateContent`: https://ai.google.dev/api/generate-content. */
export const geminiFormat: WireFormat = {
  name: 'gemini',
  read(body, { model = '', isStream }) {
    if (body.has('cachedContent'))
      throw new AppError(
        'invalid_input',
        'Belay does not pass on cached contents, whose tools it cannot see: send `contents` and `tools`.',
      );
    const options = new RequestFields(body.get('generationConfig'));
    if (countOf(options.get('candidateCount')) > 1)
      throw new AppError('invalid_input', 'Belay passes on requests for one candidate only.');
    const tools = listOf(body.get('tools')).map((tool) => new RequestFields(tool));
    return {
      models: [model],
      isStream,
      maxOutput: countOf(options.get('maxOutputTokens')) || null,
      messages: listOf(body.get('contents')).length,
      tools: tools.flatMap((tool) =>
        listOf(tool.get('functionDeclarations')).map((one) => asText(fieldOf(one, 'name'))),
      ),
      hosted: tools.flatMap((tool) => tool.names.filter((name) => !clientTools.has(name))),
    };
  },
  usageIn(message) {
    const usage = fieldOf(message, 'usageMetadata');
    return isObject(usage) ? usage : undefined;
  },
  tokensOf: (usage) => ({
    input: countOf(usage['promptTokenCount']) + countOf(usage['toolUsePromptTokenCount']),
    cached: countOf(usage['cachedContentTokenCount']),
    cacheWrite: 0,
    output: countOf(usage['candidatesTokenCount']) + countOf(usage['thoughtsTokenCount']),
  }),
  written: (message) =>
    listOf(fieldOf(message, 'candidates'))
      .flatMap((candidate) => listOf(fieldAt(candidate, 'content', 'parts')))
      .reduce((sum: number, part) => sum + partLength(part), 0),
  error: geminiError,
  streamError: (message) => dataFrame(geminiError(403, message)),
};

function partLength(part: unknown): number {
  const call = fieldOf(part, 'functionCall');
  return asText(fieldOf(part, 'text')).length + (call ? JSON.stringify(call).length : 0);
}
