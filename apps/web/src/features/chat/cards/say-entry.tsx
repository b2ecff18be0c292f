import type { Event, EventOf } from '@belay/protocol';
import { Markdown } from '@/components/ui/markdown';
import { Reasoning } from './reasoning';

/** A reply of the agent, with its reasoning. */
export function SayEntry({ event }: { event: Event & EventOf<'say'> }) {
  const { text, reasoning } = event.args;
  return (
    <div className="space-y-1.5 py-2 text-base">
      {reasoning && <Reasoning text={reasoning} label="Reasoning" />}
      {text && <Markdown text={text} />}
    </div>
  );
}
