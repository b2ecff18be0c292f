/** Where programs of a sandbox find the session’s model; the server can name it in settings files. */
export const modelAddress = {
  host: '127.0.0.1',
  port: 46_501,
  /** The paths of the APIs below it, as SDKs want them in their base URLs. */
  paths: { anthropic: '/anthropic', openai: '/openai/v1', gemini: '/gemini' },
} as const;

/** The base URL of one API, such as `http://127.0.0.1:46501/openai/v1`. */
export const modelUrl = (api: keyof typeof modelAddress.paths, port: number = modelAddress.port) =>
  `http://${modelAddress.host}:${port}${modelAddress.paths[api]}`;
