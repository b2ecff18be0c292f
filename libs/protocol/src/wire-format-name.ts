import { z } from 'zod';

/**
 * The formats in which programs call models: Anthropic’s Messages, OpenAI’s Responses and Chat Completions, and
 * Gemini’s `generateContent`.
 */
export const wireFormatName = z.enum(['messages', 'responses', 'chat', 'gemini']);
export type WireFormatName = z.infer<typeof wireFormatName>;
