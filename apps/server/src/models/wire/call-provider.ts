import { AppError, type ModelReplyHead } from '@belay/protocol';
import { outgoingFetch } from '../../egress/outgoing-fetch.js';
import { ModelFailure } from '../model.js';
import { failureOf } from '../providers/failures.js';
import { EventFrames, messageIn, parsed } from './event-frames.js';
import { replyHeaders } from './wire-headers.js';

/** The longest reply that is not a stream, and the longest error. */
const maxBodyBytes = 32 * 2 ** 20;
const maxErrorBytes = 2 ** 20;

/** A part of a reply: a frame of a stream, or a whole body. */
export interface ReplyPart {
  bytes: Buffer;
  /** Its JSON, if it has any. */
  message: unknown;
}

export interface ProviderReply {
  head: ModelReplyHead;
  isError: boolean;
  isStream: boolean;
  /** Together they are exactly the provider’s bytes. Throws `model_failed` when the reply breaks off. */
  parts: AsyncIterable<ReplyPart>;
}

interface Called {
  provider: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** The server’s key, which never reaches the client. */
  secret: string | undefined;
}

/**
 * Calls a provider once. A refusal of the server’s key becomes `forbidden`, because a client that sees it asks its user
 * to sign in; other errors of the provider are replies.
 */
export async function callProvider(
  url: string,
  {
    method,
    headers,
    body,
    wantsStream,
    signal,
  }: {
    method: string;
    headers: Record<string, string>;
    body?: string | undefined;
    wantsStream: boolean;
    signal: AbortSignal;
  },
  called: Called,
): Promise<ProviderReply> {
  const init = { method, headers, signal, redirect: 'manual' as const };
  const fetching = outgoingFetch(called.environment)(url, {
    ...init,
    ...(body !== undefined && { body }),
  });
  const response = await fetching.catch((error: unknown) => {
    throw signal.aborted ? signal.reason : failed(error, called);
  });
  const { status } = response;
  // Another host must not get the key.
  if (status >= 300 && status < 400)
    throw new AppError(
      'model_failed',
      `${called.provider} redirects to another address. Check its address.`,
    );
  const isError = status >= 400;
  const head = { status, headers: replyHeaders(response.headers) };
  // Programs read a reply as what they asked for, whatever its type says.
  const isStream = !isError && wantsStream && !isJson(head.headers['content-type']);
  if (isStream) return { head, isError, isStream, parts: framesOf(response, signal, called) };
  const bytes = await wholeBody(response, isError ? maxErrorBytes : maxBodyBytes, signal, called);
  if ([401, 402, 403].includes(status)) {
    const answered = { statusCode: status, message: '', responseBody: bytes.toString() };
    throw new AppError('forbidden', failed(answered, called).message);
  }
  if (called.secret && bytes.includes(called.secret))
    throw new AppError('forbidden', keyShown(called));
  return { head, isError, isStream, parts: one({ bytes, message: parsed(bytes.toString()) }) };
}

async function* framesOf(
  response: Response,
  signal: AbortSignal,
  called: Called,
): AsyncGenerator<ReplyPart> {
  const frames = new EventFrames();
  for await (const chunk of chunksOf(response, signal, called))
    for (const bytes of frames.add(chunk)) yield part(bytes, called);
  const rest = frames.end();
  if (rest.length > 0) yield part(rest, called);
}

function part(bytes: Buffer, called: Called): ReplyPart {
  if (called.secret && bytes.includes(called.secret))
    throw new AppError('forbidden', keyShown(called));
  return { bytes, message: messageIn(bytes) };
}

async function wholeBody(
  response: Response,
  limit: number,
  signal: AbortSignal,
  called: Called,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunksOf(response, signal, called)) {
    size += chunk.length;
    if (size > limit)
      throw new AppError('model_failed', `The reply of ${called.provider} is too large.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* chunksOf(
  { body }: Response,
  signal: AbortSignal,
  called: Called,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body ?? []) yield Buffer.from(chunk as Uint8Array);
  } catch (error) {
    throw signal.aborted ? signal.reason : failed(error, called);
  }
}

async function* one(reply: ReplyPart): AsyncGenerator<ReplyPart> {
  yield reply;
}

const isJson = (type = ''): boolean => /^application\/([\w.-]+\+)?json\b/.test(type);

const keyShown = ({ provider }: Called): string =>
  `The reply of ${provider} contains the server’s key, so it is not passed on.`;

/** One sentence about the failure, without the key. */
function failed(error: unknown, { provider, secret }: Called): AppError {
  const failure = failureOf(error, { provider, model: 'this model', secret });
  return failure instanceof ModelFailure ? new AppError('model_failed', failure.message) : failure;
}
