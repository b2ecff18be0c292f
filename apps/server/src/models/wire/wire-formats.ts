import type { WireFormatName } from '@belay/protocol';
import { chatFormat } from './chat-format.js';
import { geminiFormat } from './gemini-format.js';
import { messagesFormat } from './messages-format.js';
import { responsesFormat } from './responses-format.js';
import type { WireFormat } from './wire-format.js';

export const wireFormats: Readonly<Record<WireFormatName, WireFormat>> = {
  messages: messagesFormat,
  responses: responsesFormat,
  chat: chatFormat,
  gemini: geminiFormat,
};
