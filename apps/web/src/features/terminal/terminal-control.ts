import { ensureSandbox } from '@/features/session-controls/use-can-act';
import { live } from '@/lib/server';

/** Opens a terminal, also in the sandbox of a session that has ended, where the user types at once. */
export async function openTerminal(session: string, terminal: string): Promise<void> {
  const ended = await ensureSandbox(session);
  await live().request('terminal.open', { session, terminal });
  if (ended) await live().request('terminal.hold', { session, terminal, holder: 'user' });
}

/** Changes who types. A sandbox that was started anew has none of its terminals: they are opened again. */
export async function holdTerminal(
  session: string,
  terminal: string,
  holder: 'agent' | 'user',
): Promise<void> {
  if (await ensureSandbox(session)) await live().request('terminal.open', { session, terminal });
  await live().request('terminal.hold', { session, terminal, holder });
}
