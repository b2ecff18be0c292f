import type { WireFormatName } from '@belay/protocol';

/** What a request to the gateway is for. */
export interface WireRoute {
  /** The format of its errors, and of its body if it has one. */
  format: WireFormatName;
  /** `generate` costs tokens; `count` counts those of a prompt; `list` names models. */
  kind: 'generate' | 'count' | 'list';
  /** The path below the provider’s address, with the query. */
  path: string;
  /** The model that the path names. */
  model?: string | undefined;
  /** Whether the path asks for a stream. */
  isStream: boolean;
}

/** Parameters that are passed on; a key among them never is. */
const passedParameters = new Set([
  'alt',
  'beta',
  'after_id',
  'before_id',
  'limit',
  'pageSize',
  'pageToken',
  'client_version',
]);

type Known = Pick<WireRoute, 'format' | 'kind'> & { method: 'GET' | 'POST'; pattern: RegExp };

const post = (format: WireFormatName, kind: WireRoute['kind'], pattern: RegExp): Known => ({
  method: 'POST',
  format,
  kind,
  pattern,
});
const get = (format: WireFormatName, pattern: RegExp): Known => ({
  method: 'GET',
  format,
  kind: 'list',
  pattern,
});

/** Everything that programs may call: no batches, files, stored responses or live connections. */
const known: readonly Known[] = [
  post('messages', 'generate', /^\/anthropic\/v1(\/messages)$/),
  post('messages', 'count', /^\/anthropic\/v1(\/messages\/count_tokens)$/),
  get('messages', /^\/anthropic\/v1(\/models(?:\/[\w.:-]+)?)$/),
  post('responses', 'generate', /^\/openai\/v1(\/responses(?:\/compact)?)$/),
  post('chat', 'generate', /^\/openai\/v1(\/chat\/completions)$/),
  get('chat', /^\/openai\/v1(\/models(?:\/[\w.:-]+)?)$/),
  post(
    'gemini',
    'generate',
    /^\/gemini\/v1beta(\/models\/([\w.-]+):(?:generateContent|streamGenerateContent))$/,
  ),
  post('gemini', 'count', /^\/gemini\/v1beta(\/models\/([\w.-]+):countTokens)$/),
  get('gemini', /^\/gemini\/v1beta(\/models(?:\/[\w.-]+)?)$/),
];

/** The route of a request; undefined for one that is not passed on. */
export function wireRoute(method: 'GET' | 'POST', target: string): WireRoute | undefined {
  const url = URL.parse(target, 'http://gateway');
  // A path that a parser changes may mean another one to the provider.
  if (!url || target.split(/[?#]/)[0] !== url.pathname) return undefined;
  for (const route of known) {
    const [, path, model] = route.pattern.exec(url.pathname) ?? [];
    if (route.method !== method || path === undefined) continue;
    const query = new URLSearchParams(
      [...url.searchParams].filter(([name]) => passedParameters.has(name)),
    ).toString();
    const { format, kind } = route;
    const isStream = path.endsWith(':streamGenerateContent');
    return { format, kind, path: query ? `${path}?${query}` : path, model, isStream };
  }
  return undefined;
}

/** Whether a stream of this route is server-sent events, among which clients ignore those that they do not know. */
export const streamsEvents = ({ format, path }: WireRoute): boolean =>
  format !== 'gemini' || path.includes('alt=sse');

/** The format in whose errors a path without a route is answered. */
export function formatAt(target: string): WireFormatName {
  if (target.startsWith('/anthropic')) return 'messages';
  return target.startsWith('/gemini') ? 'gemini' : 'chat';
}
