import { AppError } from '@belay/protocol';
import type { ProviderReply } from './call-provider.js';
import { HeldReply, type HeldReplyOptions } from './held-reply.js';
import type { HeldCall, Refusals } from './held-call.js';
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
  /** Called once the client has the whole reply. */
  delivered(): void;
  /** Called when the reply breaks off, with the keys of the calls that its client has not got. */
  brokeOff(calls: readonly string[]): void;
}

/** Passes a provider’s reply on. No call in it leaves before it is decided; everything else is unchanged. */
export async function passReply(provided: ProviderReply, passed: PassedReply): Promise<void> {
  if (provided.isStream) await passFrames(provided, passed);
  else await passBody(provided, passed);
  if (!provided.isError) passed.delivered();
}

async function passFrames({ head, parts }: ProviderReply, passed: PassedReply): Promise<void> {
  const { reply, seen, read, brokeOff } = passed;
  await reply.begin(head);
  const held = new HeldReply({ ...passed, write: (bytes) => reply.write(bytes) });
  try {
    for await (const { bytes, message } of parts) {
      seen(message);
      await held.add(bytes, message);
    }
    await read();
    await held.finish();
  } catch (error) {
    brokeOff(held.unsent);
    throw error;
  } finally {
    held.close();
  }
}

async function passBody(
  { head, isError, parts }: ProviderReply,
  passed: PassedReply,
): Promise<void> {
  const { reply, format, seen, read } = passed;
  for await (const { bytes, message } of parts) {
    seen(message);
    if (!isError && (typeof message !== 'object' || message === null))
      throw new AppError('model_failed', 'The provider’s reply is not JSON.');
    await read();
    const calls = isError ? [] : format.callsIn(message);
    const refusals = await decidedOn(calls, passed);
    await reply.begin(head);
    const body = refusals.refused.size > 0 && format.replacedBody(message, refusals);
    await reply.write(body ? Buffer.from(JSON.stringify(body)) : bytes);
  }
}

async function decidedOn(
  calls: readonly HeldCall[],
  { decide, working, brokeOff }: PassedReply,
): Promise<Refusals> {
  try {
    const decided = await Promise.all(
      calls.map(async (call) => [call.key, await decide(call)] as const),
    );
    if (calls.length > 0) await working();
    const refused = new Map(decided.flatMap(([key, refusal]) => (refusal ? [[key, refusal]] : [])));
    const leavesCalls = decided.some(([, refusal]) => !refusal || refusal.standIn !== null);
    return { refused, leavesCalls };
  } catch (error) {
    brokeOff(calls.map(({ key }) => key));
    throw error;
  }
}
