import { useMemo } from 'react';
import { isEnded } from '@belay/protocol';
import { Hand, Undo2 } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { useIsPast, useSessionId, useView } from '@/features/session-log/session-context';
import { useCanAct } from '@/features/session-controls/use-can-act';
import { useCommands, type PaletteCommand } from '@/lib/commands';
import { useSessionState } from '@/lib/summaries';
import { attempt } from '@/lib/toasts';
import { holderOf, holdTerminal } from './terminal-control';

/** Who is in control, and the button to change it. */
export function TerminalHolder({ terminal, inUse }: { terminal: string; inUse: boolean }) {
  const session = useSessionId();
  const past = useIsPast();
  const canAct = useCanAct();
  const holder = useView((view) => holderOf(view.terminals.get(terminal)));
  const ended = isEnded(useSessionState(session) ?? 'starting');
  const hold = (next: 'agent' | 'user') => attempt(() => holdTerminal(session, terminal, next));
  useCommands(
    useMemo(
      () =>
        canAct && inUse
          ? [takeOver(holder, (next) => attempt(() => holdTerminal(session, terminal, next)))]
          : [],
      [canAct, inUse, holder, session, terminal],
    ),
  );
  if (past) return <span className="text-xs text-faint">replay</span>;
  if (!canAct) return null;
  return holder === 'user' ? (
    <>
      <span className="shrink-0 text-xs whitespace-nowrap text-amber">You’re in control</span>
      <Button small onClick={() => hold('agent')}>
        <Undo2 size={12} aria-hidden /> Hand back
      </Button>
    </>
  ) : (
    <>
      <span className="shrink-0 text-xs whitespace-nowrap text-faint max-sm:hidden">
        {ended ? 'The agent has ended' : 'Agent in control'}
      </span>
      <Button small onClick={() => hold('user')}>
        <Hand size={12} aria-hidden /> Take over
      </Button>
    </>
  );
}

const takeOver = (
  holder: 'agent' | 'user',
  hold: (next: 'agent' | 'user') => void,
): PaletteCommand => ({
  id: 'terminal.hold',
  title: holder === 'user' ? 'Hand the terminal back' : 'Take over the terminal',
  group: 'Panels',
  run: () => hold(holder === 'user' ? 'agent' : 'user'),
});
