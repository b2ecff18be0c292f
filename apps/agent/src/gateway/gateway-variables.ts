import { gatewayUrl } from '@belay/protocol';
import type { Gateway } from './gateway.js';

/** Variables with which SDKs of the providers use the gateway. */
export const gatewayVariables = ({ port, token }: Gateway): Record<string, string> => ({
  OPENAI_BASE_URL: gatewayUrl('openai', port),
  OPENAI_API_KEY: token,
  ANTHROPIC_BASE_URL: gatewayUrl('anthropic', port),
  ANTHROPIC_API_KEY: token,
  GOOGLE_GEMINI_BASE_URL: gatewayUrl('gemini', port),
  GEMINI_API_KEY: token,
});
