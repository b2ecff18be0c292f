import { AppError } from '@belay/protocol';
import type { ProviderReply } from './call-provider.js';
import { HeldReply, type HeldReplyOptions } from './held-reply.js';
import type { Refusal } from './held-call.js';
import type { ProgramReply } from './program-reply.js';

interface PassedReply extends Pick<
  HeldReplyOptions,
  'format' | 'decide' | 'ping' | 'working' | 'signal'
> {
  reply: ProgramReply;
  /** Called with the JSON of each part. */
  seen(message: unknown): void;
  /** Called once all of the provider’s reply was read, before its calls are decided. */
  read(): Promise<void>;
}

/** Passes a provider’s reply on. No call in it leaves before it is decided; everything else is unchanged. */
export async function passReply(provided: ProviderReply, passed: PassedReply): Promise<void> {
  if (provided.isStream) await passFrames(provided, passed);
  else await passBody(provided, passed);
}

async function passFrames({ head, parts }: ProviderReply, passed: PassedReply): Promise<void> {
  const { reply, seen, read } = passed;
  await reply.begin(head);
  const held = new HeldReply({ ...passed, write: (bytes) => reply.write(bytes) });
  try {
    for await (const { bytes, message } of parts) {
      seen(message);
      await held.add(bytes, message);
    }
    await read();
    await held.finish();
  } finally {
    held.close();
  }
}

async function passBody(
  { head, isError, parts }: ProviderReply,
  passed: PassedReply,
): Promise<void> {
  const { reply, format, decide, working, seen, read } = passed;
  for await (const { bytes, message } of parts) {
    seen(message);
    if (!isError && (typeof message !== 'object' || message === null))
      throw new AppError('model_failed', 'The provider’s reply is not JSON.');
    await read();
    const refused = new Map<string, Refusal>();
    const calls = isError ? [] : format.callsIn(message);
    const decided = await Promise.all(
      calls.map(async (call) => ({ key: call.key, refusal: await decide(call) })),
    );
    for (const { key, refusal } of decided) if (refusal) refused.set(key, refusal);
    if (calls.length > 0) await working();
    await reply.begin(head);
    const leavesCalls = decided.some(({ refusal }) => !refusal || refusal.standIn !== null);
    const body = refused.size > 0 && format.replacedBody(message, { refused, leavesCalls });
    await reply.write(body ? Buffer.from(JSON.stringify(body)) : bytes);
  }
}
