import type { PlayedForge } from './start-forge.js';

type Json = Record<string, unknown>;

interface ForgeAnswer {
  status: number;
  headers: Headers;
  /** The body, whichever of the two it is. */
  json: Json & Json[];
}

const authorizations = {
  github: (token: string) => ({ authorization: `Bearer ${token}` }),
  gitlab: (token: string) => ({ 'private-token': token }),
  gitea: (token: string) => ({ authorization: `token ${token}` }),
};

/** Calls the API of a played host with its token. Redirects are not followed. */
export async function callForge(
  forge: Pick<PlayedForge, 'api' | 'kind' | 'token'>,
  path: string,
  {
    method = 'GET',
    body,
    headers = {},
  }: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<ForgeAnswer> {
  const answer = await fetch(`${forge.api}/${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...authorizations[forge.kind](forge.token),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
  const json = (isJson ? JSON.parse(text) : { text }) as Json & Json[];
  return { status: answer.status, headers: answer.headers, json };
}
