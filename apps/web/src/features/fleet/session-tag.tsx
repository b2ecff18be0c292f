import { automationTag } from '@belay/protocol';
import { clsx } from 'clsx';
import { Workflow } from 'lucide-react';

/** A tag of a session; that of an automation as its name with a sign. */
export function SessionTag({ tag }: { tag: string }) {
  const automation = tag.startsWith(automationTag) ? tag.slice(automationTag.length) : undefined;
  return (
    <span
      title={automation === undefined ? tag : `Begun by the automation ${automation}`}
      className={clsx(
        'max-w-32 shrink-0 truncate rounded-sm bg-sunken px-1 text-xs text-muted',
        automation !== undefined && 'inline-flex items-center gap-1',
      )}
    >
      {automation !== undefined && <Workflow size={11} aria-hidden className="shrink-0" />}
      <span className="truncate">{automation ?? tag}</span>
    </span>
  );
}
