import type { Event, EventOf } from '@belay/protocol';
import { Undo2 } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { askUndoRewind } from '@/features/session-controls/ask-undo';
import { useCanAct } from '@/features/session-controls/use-can-act';
import { useSessionContext } from '@/features/session-log/session-context';
import { attempt } from '@/lib/toasts';
import { NoteEntry } from './note-entry';

/** A rewind, which can itself be undone. */
export function RewindEntry({ event }: { event: Event & EventOf<'rewind'> }) {
  const context = useSessionContext();
  const mayUndo = useCanAct();
  return (
    <NoteEntry event={event}>
      {mayUndo && (
        <Button small look="ghost" onClick={() => attempt(() => askUndoRewind(context, event))}>
          <Undo2 size={12} aria-hidden /> Undo…
        </Button>
      )}
    </NoteEntry>
  );
}
