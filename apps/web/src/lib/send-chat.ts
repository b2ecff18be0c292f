import type { NewMessage } from '@belay/protocol';
import { client, live } from './server';

/**
 * Sends a message over the socket that the page has open, which acknowledges it once it is in the log; by REST while
 * there is none.
 */
export async function sendChat(
  session: string,
  message: Partial<NewMessage> & { text: string },
): Promise<void> {
  if (live().state === 'live') await live().request('message', { session, ...message });
  else await client.sessions.message(session, message);
}

/** Refused once the agent has taken the message. */
export async function editMessage(session: string, message: number, text: string): Promise<void> {
  if (live().state === 'live') await live().request('message.edit', { session, message, text });
  else await client.sessions.editMessage(session, String(message), { text });
}

export async function withdrawMessage(session: string, message: number): Promise<void> {
  if (live().state === 'live') await live().request('message.withdraw', { session, message });
  else await client.sessions.withdrawMessage(session, String(message));
}
