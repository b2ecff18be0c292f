import type { OutgoingItem, OutgoingKind } from '@belay/protocol';
import { Check, CircleDashed, X } from 'lucide-react';
import { VisibleText } from '@/components/ui/visible-text';

const kinds: Record<OutgoingKind, string> = {
  reaction: 'Reaction',
  comment: 'Comment',
  push: 'Push',
  pull: 'Pull request',
  'pull-text': 'Text of the pull request',
  labels: 'Labels',
  review: 'Review',
  reply: 'Answer',
};

const states: Record<OutgoingItem['state'], { words: string; Icon: typeof X; colour: string }> = {
  planned: { words: 'not sent yet', Icon: CircleDashed, colour: 'text-faint' },
  sent: { words: 'sent', Icon: Check, colour: 'text-pass' },
  refused: { words: 'refused', Icon: X, colour: 'text-fail' },
  'given-up': { words: 'given up', Icon: X, colour: 'text-fail' },
};

/** What a run sends to a git host, and what became of each. */
export const SentItems = ({ items }: { items: readonly OutgoingItem[] }) => (
  <ul className="space-y-1 text-sm">
    {items.map(({ kind, target, state, url, why }) => {
      const { words, Icon, colour } = states[state];
      return (
        <li key={`${kind} ${target}`} className="flex gap-2">
          <Icon size={15} aria-hidden className={`mt-0.5 shrink-0 ${colour}`} />
          <span className="min-w-0 break-words">
            {url ? (
              <a href={url} target="_blank" rel="noreferrer" className="underline">
                {kinds[kind]}
              </a>
            ) : (
              kinds[kind]
            )}{' '}
            <span className="text-muted">
              {words}
              {why !== null && (
                <>
                  : <VisibleText text={why} />
                </>
              )}
            </span>
          </span>
        </li>
      );
    })}
  </ul>
);
