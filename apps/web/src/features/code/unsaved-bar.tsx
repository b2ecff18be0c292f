import type { ReactNode } from 'react';
import { Save } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { formatKeys } from '@/lib/keys';

interface UnsavedBarProps {
  /** The agent, or somebody else, changed the file since the person began. */
  conflict: boolean;
  onSave(): void;
  onDiscard(): void;
  onKeep(): void;
}

/** Over a file that a person changed: what to do with it. */
export function UnsavedBar({ conflict, onSave, onDiscard, onKeep }: UnsavedBarProps) {
  if (conflict)
    return (
      <Bar text="This file changed while you edited it." amber>
        <Button small onClick={onDiscard}>
          Take theirs
        </Button>
        <Button small onClick={onKeep}>
          Keep mine
        </Button>
      </Bar>
    );
  return (
    <Bar text="You changed this file. It is not saved.">
      <Button small look="ghost" onClick={onDiscard}>
        Discard
      </Button>
      <Button small onClick={onSave} title={formatKeys('mod+s')}>
        <Save size={12} aria-hidden /> Save
      </Button>
    </Bar>
  );
}

function Bar({ text, amber, children }: { text: string; amber?: boolean; children: ReactNode }) {
  return (
    <div
      role="status"
      className={`flex items-center gap-2 border-b px-3 py-1 text-xs ${amber ? 'bg-amber-soft' : 'bg-sunken'}`}
    >
      <span className="min-w-0 flex-1">{text}</span>
      {children}
    </div>
  );
}
