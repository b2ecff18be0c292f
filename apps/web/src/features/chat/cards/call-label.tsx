import type { ReactNode } from 'react';
import { clsx } from 'clsx';
import {
  calledOperation,
  labelOfCall,
  mcpToolNamed,
  visibleText,
  type Display,
  type Event,
} from '@belay/protocol';
import {
  Blocks,
  Brain,
  CircleHelp,
  FilePen,
  FileText,
  Flag,
  Globe,
  Plug,
  SquareTerminal,
  Wrench,
  type LucideIcon,
} from 'lucide-react';
import { VisibleText } from '@/components/ui/visible-text';
import { useView } from '@/features/session-log/session-context';

const icons: Record<Display, LucideIcon> = {
  command: SquareTerminal,
  terminal: SquareTerminal,
  file: FileText,
  edit: FilePen,
  page: Globe,
  thought: Brain,
  question: CircleHelp,
  ending: Flag,
  event: Wrench,
  action: Blocks,
  plain: Wrench,
};

/** A call’s verb and subject, struck if its changes were undone; the tooltip has the operation’s name. */
export function CallLabel({ event, undone = false }: { event: Event; undone?: boolean }) {
  const commit = useView((view) => view.commits.get(event.id ?? ''));
  const { verb, subject } = labelOfCall(event, commit);
  return (
    <>
      {iconOf(event)}
      <span
        className={clsx('min-w-0 flex-1 truncate text-sm leading-5', undone && 'line-through')}
        title={visibleText(event.action)}
      >
        {event.source === 'user' && 'You · '}
        <VisibleText text={verb} />{' '}
        <span className="ml-0.5 font-mono text-xs text-muted">
          <VisibleText text={subject} />
        </span>
      </span>
    </>
  );
}

function iconOf({ action }: Event): ReactNode {
  const operation = calledOperation(action);
  const Icon = mcpToolNamed(action) ? Plug : operation ? icons[operation.display] : Wrench;
  return <Icon size={14} aria-hidden className="shrink-0 text-faint" />;
}
