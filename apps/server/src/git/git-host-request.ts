import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { AppError, type GitHost, type GitHostKind } from '@belay/protocol';
import { z } from 'zod';
import { byteLimit } from '../storage/byte-limit.js';
import { GitHttp, type GitResponse, type HttpMethod } from './git-http.js';
import { hostLimit } from './host-limit.js';
import { serverSays, type GitRemote } from './smart-http.js';

/** A repository at a host with a REST API, and the access to it. */
export interface HostedRepository {
  remote: GitRemote;
  host: GitHost;
  signal: AbortSignal;
}

export interface GitHostCall {
  method: HttpMethod;
  /** Below the address of the API, without a slash before it. */
  path: string;
  body?: unknown;
  /** The ETag of an earlier answer, for `GET`: the status is 304 while it is the same. */
  etag?: string | undefined;
}

/** A host’s answer. Its body is parsed as JSON; undefined if it is none. */
export interface GitHostAnswer {
  status: number;
  /** With lowercase names; only the first of several values. */
  headers: Readonly<Record<string, string>>;
  body: unknown;
}

const maxAnswerBytes = 8 * 2 ** 20;

/** Requests to the REST APIs of GitHub, GitLab and Gitea, with the token of the host. */
@Injectable()
export class GitHostRequests {
  constructor(private readonly http: GitHttp) {}

  /**
   * Any status is returned, but for a limit of the host: `limit_reached`, whose details say until when. One redirect is
   * followed within the host, which is how a renamed repository answers. At most 8 MiB are read; the details of the error for
   * more have `isTooLarge`.
   */
  async send(hosted: HostedRepository, call: GitHostCall): Promise<GitHostAnswer> {
    const { host, remote } = hosted;
    const url = new URL(`${apiBaseOf(host, remote.address.origin)}/${call.path}`);
    const first = await this.#send(hosted, url, call);
    const moved = first.body === 'moved' ? redirectOf(first, url, host.host) : undefined;
    const answer = moved ? await this.#send(hosted, moved, call) : first;
    const limit = hostLimit(host.host, answer);
    if (limit) throw limit;
    return answer.body === 'moved' ? { ...answer, body: undefined } : answer;
  }

  /** The body `moved` stands for a redirect, whose body is not read. */
  async #send(
    { remote, host, signal }: HostedRepository,
    url: URL,
    { method, body, etag }: GitHostCall,
  ): Promise<GitHostAnswer> {
    const { credential, isTrusted } = remote;
    const answer = await this.http.call(url, {
      method,
      headers: {
        accept: 'application/json',
        'user-agent': 'belay',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(etag !== undefined && { 'if-none-match': etag }),
        ...(credential && authorization(host.kind, credential.token)),
      },
      ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
      isTrusted,
      isPlain: host.insecure,
      signal,
    });
    const headers = firstValues(answer.headers);
    if (redirects.has(answer.status)) {
      answer.body.destroy();
      return { status: answer.status, headers, body: 'moved' };
    }
    return { status: answer.status, headers, body: parsed(await textOf(answer, host.host)) };
  }
}

/** Those that keep method and body at these hosts. */
const redirects = new Set([301, 302, 307, 308]);

/** The token is meant for one host, so that a redirect elsewhere is refused. */
function redirectOf({ headers }: GitHostAnswer, from: URL, host: string): URL {
  const { location } = headers;
  const to = location === undefined ? null : URL.parse(location, from.href);
  if (to?.origin === from.origin && to.username === '' && to.password === '') return to;
  throw new AppError(
    'forbidden',
    `${host} redirects elsewhere, which is not followed. Use the repository’s present name.`,
  );
}

async function textOf(answer: GitResponse, host: string): Promise<string> {
  const tooLarge = () =>
    new AppError('unavailable', `${host} sent too large a response.`, { isTooLarge: true });
  const limited = answer.body.pipe(byteLimit(maxAnswerBytes, tooLarge));
  answer.body.once('error', (error) => limited.destroy(error));
  return (await buffer(limited).finally(() => answer.body.destroy())).toString();
}

const firstValues = (headers: GitResponse['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const first = [value].flat()[0];
      return first === undefined ? [] : [[name.toLowerCase(), first]];
    }),
  );

/** The address of a host’s REST API, without a slash at its end. */
export function apiBaseOf({ kind, api, host }: GitHost, origin: string): string {
  if (api !== null) return api.replace(/\/+$/, '');
  if (kind === 'github')
    return host === 'github.com' ? 'https://api.github.com' : `${origin}/api/v3`;
  return kind === 'gitlab' ? `${origin}/api/v4` : `${origin}/api/v1`;
}

const authorization = (kind: GitHostKind, token: string): Record<string, string> => {
  if (kind === 'gitlab') return { 'private-token': token };
  if (kind === 'gitea') return { authorization: `token ${token}` };
  return { authorization: `Bearer ${token}`, 'x-github-api-version': '2022-11-28' };
};

const words = z
  .object({
    message: z.unknown(),
    error: z.unknown(),
    errors: z.array(z.union([z.string(), z.object({ message: z.string() }).partial()])),
  })
  .partial();

/** What a host says about a failure, in its own words; empty if it says nothing. */
export function hostWords(body: unknown): string {
  const { data } = words.safeParse(body);
  const all = [
    data?.message ?? data?.error,
    ...(data?.errors ?? []).map((one) => (typeof one === 'string' ? one : one.message)),
  ].flatMap(sentences);
  return all.join('; ');
}

/** GitLab’s messages are texts, lists, or lists by field. */
function sentences(message: unknown): string[] {
  if (typeof message === 'string') return [message];
  if (Array.isArray(message)) return message.slice(0, 10).flatMap(sentences);
  if (typeof message !== 'object' || message === null) return [];
  return Object.entries(message)
    .slice(0, 10)
    .map(([field, value]) => `${field} ${[value].flat().filter(isText).join(', ')}`);
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** The one sentence for an answer that is not the wanted one; `what` completes “may not …”. */
export function refusedBy(
  host: string,
  { status, body }: Pick<GitHostAnswer, 'status' | 'body'>,
  what: string,
): AppError {
  if (status === 401)
    return new AppError(
      'unauthorized',
      `${host} refused the token. Renew it under Settings, Git hosts.`,
    );
  if (status === 403 || status === 404)
    return new AppError(
      'forbidden',
      `The token for ${host} may not ${what}. Give it that right there, under its settings.`,
    );
  const said = hostWords(body);
  return new AppError(
    'rejected',
    `${host} did not ${what} (status ${status}). ${said && serverSays(said)}`.trim(),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
