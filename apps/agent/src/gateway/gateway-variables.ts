import { gatewayUrl } from '@belay/protocol';

/** Variables with which SDKs of the providers use the gateway. */
export const gatewayVariables = (token: string): Record<string, string> => ({
  OPENAI_BASE_URL: gatewayUrl('openai'),
  OPENAI_API_KEY: token,
  ANTHROPIC_BASE_URL: gatewayUrl('anthropic'),
  ANTHROPIC_API_KEY: token,
  GOOGLE_GEMINI_BASE_URL: gatewayUrl('gemini'),
  GEMINI_API_KEY: token,
});
