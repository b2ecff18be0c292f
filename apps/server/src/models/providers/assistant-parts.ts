import type { LanguageModelV4Message, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { Message } from '@belay/protocol';
import { z } from 'zod';
import { callId, sentName } from './sent-names.js';

type Assistant = Extract<Message, { role: 'assistant' }>;
export type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

const metadata = z.record(z.string(), z.record(z.string(), z.any())).optional();

/**
 * The order of a reply's parts, and provider-specific data of each, such as a reasoning's signature. Texts are not
 * duplicated: `length` counts the part's characters of the message's text or reasoning. Calls are identified by their
 * order, because the agent may change their ids.
 */
const opaqueReply = z.object({
  provider: z.string(),
  parts: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.enum(['text', 'reasoning']), length: z.int().nonnegative(), metadata }),
      z.object({ type: z.literal('call'), metadata }),
    ]),
  ),
});
export type OpaqueReply = z.infer<typeof opaqueReply>;

/** The parts of an earlier reply: as this provider sent them, or plain ones if another model wrote it. */
export function assistantParts(message: Assistant, provider: string): AssistantContent {
  const opaque = opaqueReply.safeParse(message.opaque);
  if (!opaque.success || opaque.data.provider !== provider) return plainParts(message);
  return originalParts(message, opaque.data) ?? plainParts(message);
}

function plainParts(message: Assistant): AssistantContent {
  // Anthropic refuses text that is empty or blank.
  const text = message.text.trim() === '' ? [] : [{ type: 'text' as const, text: message.text }];
  return [...text, ...message.calls.map((call) => callPart(call))];
}

/** Undefined if the message was changed since the provider sent it. */
function originalParts(message: Assistant, opaque: OpaqueReply): AssistantContent | undefined {
  const left = { text: message.text, reasoning: message.reasoning ?? '' };
  const calls = [...message.calls];
  const content: AssistantContent = [];
  for (const part of opaque.parts) {
    if (part.type === 'call') {
      const call = calls.shift();
      if (!call) return undefined;
      content.push(callPart(call, part.metadata));
      continue;
    }
    const text = left[part.type].slice(0, part.length);
    if (text.length < part.length) return undefined;
    left[part.type] = left[part.type].slice(part.length);
    if (part.type === 'text' && text.trim() === '') continue;
    content.push({ type: part.type, text, ...options(part.metadata) });
  }
  return left.text === '' && left.reasoning === '' && calls.length === 0 ? content : undefined;
}

function callPart(call: Assistant['calls'][number], known?: SharedV4ProviderMetadata) {
  return {
    type: 'tool-call' as const,
    toolCallId: callId(call.id),
    toolName: sentName(call.operation),
    input: isObject(call.input) ? call.input : { unreadable: call.input ?? null },
    ...options(known),
  };
}

const options = (known: SharedV4ProviderMetadata | undefined) =>
  known && { providerOptions: known };

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
