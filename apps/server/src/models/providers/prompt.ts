import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { resultText, type Message } from '@belay/protocol';
import type { GenerateOptions } from '../model.js';
import { callId, sentName } from './sent-names.js';
import { assistantParts } from './assistant-parts.js';
import type { SdkProvider } from './sdk-provider.js';

type Result = Extract<Message, { role: 'tool' }>['results'][number];
type Picture = LanguageModelV4FilePart & { data: { type: 'data'; data: Uint8Array } };

/** Converts the conversation to the provider's format, with marks up to which it is to be cached. */
export async function toPrompt(
  messages: readonly Message[],
  provider: SdkProvider,
  blob: GenerateOptions['blob'],
): Promise<LanguageModelV4Prompt> {
  const prompt = await toPlainPrompt(messages, provider, blob);
  return provider.cacheMark ? marked(prompt, provider.cacheMark) : prompt;
}

/** Like `toPrompt`, without marks. */
export async function toPlainPrompt(
  messages: readonly Message[],
  provider: SdkProvider,
  blob: GenerateOptions['blob'],
): Promise<LanguageModelV4Prompt> {
  const written = writtenFor(provider);
  const prompt: LanguageModelV4Prompt = [];
  for (const message of messages) {
    let parts = written.get(message);
    if (!parts) {
      parts = await newMessagesOf(message, provider, blob);
      // Pictures are kept on disk between the requests.
      if (!hasPictures(message)) written.set(message, parts);
    }
    prompt.push(...parts);
  }
  return prompt;
}

type Written = WeakMap<Message, readonly LanguageModelV4Message[]>;
/** A growing prompt repeats earlier messages: each is converted once for a provider. */
const known = new WeakMap<SdkProvider, Written>();

function writtenFor(provider: SdkProvider): Written {
  const written = known.get(provider) ?? new WeakMap();
  known.set(provider, written);
  return written;
}

export function hasPictures(message: Message): boolean {
  if (message.role === 'user') return message.images.length > 0;
  return message.role === 'tool' && message.results.some(({ images }) => images.length > 0);
}

async function newMessagesOf(
  message: Message,
  provider: SdkProvider,
  blob: GenerateOptions['blob'],
): Promise<LanguageModelV4Message[]> {
  const pictures = (images: string[]) => Promise.all(images.map((id) => picture(id, blob)));
  if (message.role === 'system') return [{ role: 'system', content: message.text }];
  if (message.role === 'user') {
    const text = message.text === '' ? [] : [{ type: 'text' as const, text: message.text }];
    return [{ role: 'user', content: [...text, ...(await pictures(message.images))] }];
  }
  if (message.role === 'tool') return toolMessages(message.results, provider, pictures);
  const content = assistantParts(message, provider.name);
  return content.length > 0 ? [{ role: 'assistant', content }] : [];
}

async function toolMessages(
  results: Result[],
  provider: SdkProvider,
  pictures: (images: string[]) => Promise<Picture[]>,
): Promise<LanguageModelV4Message[]> {
  const content: LanguageModelV4ToolResultPart[] = [];
  const after: Picture[] = [];
  for (const result of results) {
    const shown = await pictures(result.images);
    if (!provider.picturesInResults) after.push(...shown);
    content.push({
      type: 'tool-result',
      toolCallId: callId(result.id),
      toolName: sentName(result.operation),
      output: toolOutput(result, provider.picturesInResults ? shown : []),
    });
  }
  const answer: LanguageModelV4Message = { role: 'tool', content };
  if (after.length === 0) return [answer];
  const text = 'The pictures of the results above, in their order:';
  return [answer, { role: 'user', content: [{ type: 'text', text }, ...after] }];
}

function toolOutput(result: Result, shown: Picture[]): LanguageModelV4ToolResultPart['output'] {
  const value = resultText(result);
  if (shown.length > 0) {
    const text = { type: 'text' as const, text: value };
    const files = shown.map(({ data, mediaType }) => ({ type: 'file' as const, data, mediaType }));
    return { type: 'content', value: [text, ...files] };
  }
  return { type: result.failed ? 'error-text' : 'text', value };
}

async function picture(id: string, blob: GenerateOptions['blob']): Promise<Picture> {
  const { type, bytes } = await blob(id);
  return { type: 'file', mediaType: type, data: { type: 'data', data: bytes } };
}

/**
 * Marks the end of the instructions and the two newest messages that are not the model's; the next call then finds
 * everything up to the older one in the cache. (Anthropic allows four marks.)
 */
function marked(
  prompt: LanguageModelV4Prompt,
  mark: NonNullable<SdkProvider['cacheMark']>,
): LanguageModelV4Prompt {
  const ends = prompt.flatMap(({ role }, index) =>
    role === 'user' || role === 'tool' ? [index] : [],
  );
  const instructions = prompt.findLastIndex(({ role }) => role === 'system');
  const chosen = new Set([instructions, ...ends.slice(-2)]);
  return prompt.map((message, index) =>
    chosen.has(index) ? { ...message, providerOptions: mark } : message,
  );
}
