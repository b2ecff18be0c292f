import type { ReactNode } from 'react';
import { Save } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { pluralText } from '@belay/protocol';
import { formatKeys } from '@/lib/keys';

export interface UnsavedBarProps {
  /** The file was changed by the agent or another user since the edit began. */
  conflict: boolean;
  /** Whether mine and theirs are shown side by side. */
  compared: boolean;
  /** Number of unresolved conflicts in a merged text; null if nothing was merged. */
  undecided: number | null;
  onCompare(): void;
  onMerge(): void;
  onSave(): void;
  onDiscard(): void;
  onKeep(): void;
}

/** Shown above a file with unsaved changes, with the actions for them. */
export function UnsavedBar({ conflict, compared, undecided, ...actions }: UnsavedBarProps) {
  const { onCompare, onMerge, onSave, onDiscard, onKeep } = actions;
  const compare = (
    <Button small look="ghost" onClick={onCompare}>
      {compared ? 'Hide the difference' : 'Show the difference'}
    </Button>
  );
  if (conflict)
    return (
      <Bar text="This file changed while you edited it." amber>
        {compare}
        <Button small onClick={onDiscard} title="Discards your changes">
          Take theirs
        </Button>
        <Button small onClick={onKeep} title="Saving replaces the current file">
          Keep mine
        </Button>
        <Button small look="amber" onClick={onMerge} title="Combines both for you to review">
          Merge
        </Button>
      </Bar>
    );
  return (
    <Bar text={undecided === null ? 'Your changes to this file are not saved.' : result(undecided)}>
      {undecided !== null && compare}
      <Button small look="ghost" onClick={onDiscard}>
        Discard
      </Button>
      <Button small onClick={onSave} title={formatKeys('mod+s')}>
        <Save size={12} aria-hidden /> Save
      </Button>
    </Bar>
  );
}

const result = (undecided: number): string =>
  undecided === 0
    ? 'The result of the merge is not saved.'
    : `Merged, except for ${pluralText(undecided, 'place')} that both changed. Resolve the marked conflicts, then save.`;

function Bar({ text, amber, children }: { text: string; amber?: boolean; children: ReactNode }) {
  return (
    <div
      role="status"
      className={`flex flex-wrap items-center gap-2 border-b px-3 py-1 text-xs ${amber ? 'bg-amber-soft' : 'bg-sunken'}`}
    >
      <span className="min-w-40 flex-1">{text}</span>
      {children}
    </div>
  );
}
