import type { EventArgs } from '@belay/protocol';
import { ensureSandbox } from '@/features/session-controls/use-can-act';
import { live } from '@/lib/server';

/** Opens a terminal. If the session has ended, starts its sandbox and puts the user in control. */
export async function openTerminal(session: string, terminal: string): Promise<void> {
  const ended = await ensureSandbox(session);
  await live().request('terminal.open', { session, terminal });
  if (ended) await live().request('terminal.hold', { session, terminal, holder: 'user' });
}

/** Changes who is in control. In a restarted sandbox, the terminal has to be opened again first. */
export async function holdTerminal(
  session: string,
  terminal: string,
  holder: 'agent' | 'user',
): Promise<void> {
  if (await ensureSandbox(session)) await live().request('terminal.open', { session, terminal });
  await live().request('terminal.hold', { session, terminal, holder });
}

/** Nobody types in a terminal that has closed, for example with its sandbox. */
export const holderOf = (terminal: EventArgs<'terminal'> | undefined): 'agent' | 'user' =>
  terminal && terminal.change !== 'closed' ? terminal.holder : 'agent';
