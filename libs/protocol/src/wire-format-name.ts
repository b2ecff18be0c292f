import { z } from 'zod';

/**
 * The wire formats of model providers: Anthropic's Messages, OpenAI's Responses and Chat Completions, and Gemini's
 * generateContent.
 */
export const wireFormatName = z.enum(['messages', 'responses', 'chat', 'gemini']);
export type WireFormatName = z.infer<typeof wireFormatName>;

/** The formats that the API of a provider speaks, best first; a server of the user speaks Chat Completions. */
export function wireFormatsOf(provider: string): readonly WireFormatName[] {
  if (provider === 'anthropic') return ['messages'];
  if (provider === 'openai') return ['responses', 'chat'];
  if (provider === 'google') return ['gemini'];
  return ['chat'];
}
