import {
  calledOperation,
  mcpToolNamed,
  summaryOf,
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
  const { icon: Icon, verb, subject } = labelOf(event);
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

function labelOf(event: Event): { icon: LucideIcon; verb: string; subject: string } {
  const subject = firstLine(summaryOf(event.action, event.args));
  const tool = mcpToolNamed(event.action);
  if (tool) return { icon: Plug, verb: `${tool.name} (${tool.server})`, subject };
  const operation = calledOperation(event.action);
  if (!operation) return { icon: Wrench, verb: event.action, subject };
  const { display, title } = operation;
  // As in “Read README.md”: for files and commands, the first word of the title is clear enough.
  const isShort =
    subject !== '' && (display === 'command' || display === 'file' || display === 'edit');
  return { icon: icons[display], verb: isShort ? (title.split(' ')[0] ?? title) : title, subject };
}

/** The first line of a summary, shortened; empty for a call without input. */
const firstLine = (summary: string): string =>
  summary === '{}' ? '' : (summary.split('\n')[0] ?? '').slice(0, 300);
