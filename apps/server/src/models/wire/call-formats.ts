import type { WireFormatName } from '@belay/protocol';
import { chatCalls } from './chat-calls.js';
import { geminiCalls } from './gemini-calls.js';
import { messagesCalls } from './messages-calls.js';
import { responsesCalls } from './responses-calls.js';
import type { CallFormat } from './held-call.js';

export const callFormats: Readonly<Record<WireFormatName, CallFormat>> = {
  messages: messagesCalls,
  responses: responsesCalls,
  chat: chatCalls,
  gemini: geminiCalls,
};
