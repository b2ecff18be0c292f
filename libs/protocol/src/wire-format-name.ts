import { z } from 'zod';

/**
 * The wire formats of model providers: Anthropic's Messages, OpenAI's Responses and Chat Completions, and Gemini's
 * generateContent.
 */
export const wireFormatName = z.enum(['messages', 'responses', 'chat', 'gemini']);
export type WireFormatName = z.infer<typeof wireFormatName>;
