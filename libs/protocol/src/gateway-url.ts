import { gatewayPort } from './agent-program.js';

/** The APIs of the model gateway in a sandbox, with their paths as SDKs want them in base URLs. */
const paths = { anthropic: '/anthropic', openai: '/openai/v1', gemini: '/gemini' } as const;

/** The address of one API of the gateway, such as `http://127.0.0.1:46501/openai/v1`. */
export const gatewayUrl = (api: keyof typeof paths, port: number = gatewayPort): string =>
  `http://127.0.0.1:${port}${paths[api]}`;
