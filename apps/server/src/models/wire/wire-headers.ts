/** Headers of requests that providers get from programs. Credentials are never among them. */
const passedOn =
  /^(content-type|accept|user-agent|x-app|x-stainless-[\w-]+|anthropic-[\w-]+|openai-beta|originator|session_id|conversation_id|x-goog-api-client)$/;

/** Headers of replies that programs get. */
const passedBack =
  /^(content-type|request-id|x-request-id|retry-after(-ms)?|x-should-retry|anthropic-ratelimit-[\w-]+|x-ratelimit-[\w-]+)$/;

/** The headers of a program’s request for its provider, with the server’s credentials; replies come uncompressed. */
export const providerHeaders = (
  headers: Readonly<Record<string, string>>,
  credentials: Readonly<Record<string, string>>,
): Record<string, string> => ({
  ...chosen(Object.entries(headers), passedOn),
  'accept-encoding': 'identity',
  ...credentials,
});

/** The headers of a provider’s reply for the program. */
export const replyHeaders = (headers: Headers): Record<string, string> =>
  chosen([...headers], passedBack);

const chosen = (
  headers: readonly (readonly [string, string])[],
  pattern: RegExp,
): Record<string, string> =>
  Object.fromEntries(
    headers
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name, value]) => pattern.test(name) && isHeaderValue(value)),
  );

const isHeaderValue = (value: string): boolean =>
  value.length <= 8_192 && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
