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

/** A call’s verb and subject; the tooltip has the operation’s name. */
export function CallLabel({ event }: { event: Event }) {
  const { icon: Icon, verb, subject } = withIcon(event);
  return (
    <>
      <Icon size={14} aria-hidden className="shrink-0 text-faint" />
      <span className="min-w-0 flex-1 truncate text-sm leading-5" title={visibleText(event.action)}>
        {event.source === 'user' && 'You · '}
        <VisibleText text={verb} />{' '}
        <span className="ml-0.5 font-mono text-xs text-muted">
          <VisibleText text={subject} />
        </span>
      </span>
    </>
  );
}

function withIcon(event: Event): ReturnType<typeof labelOfCall> & { icon: LucideIcon } {
  const label = labelOfCall(event);
  if (mcpToolNamed(event.action)) return { ...label, icon: Plug };
  const operation = calledOperation(event.action);
  return { ...label, icon: operation ? icons[operation.display] : Wrench };
}
