import { pluralText, visibleText } from '@belay/protocol';
import { VisibleText } from '@/components/ui/visible-text';
import { useView } from '@/features/session-log/session-context';

const none: readonly never[] = [];

/** How many lines of each edit a folded card shows. */
export const shownEditLines = 8;

/** The lines that a call wrote; only the first `limit` lines of each edit. */
export function EditLines({ call, limit }: { call: string; limit: number }) {
  const edits = useView((view) => view.edits.get(call) ?? none);
  if (!edits.length) return null;
  return (
    <div className="border-t">
      {edits.slice(0, 6).map((edit) => {
        const { path, line, content, removed, truncated } = edit.args;
        const hidden = content.length - limit;
        return (
          <div
            key={edit.seq}
            className="overflow-x-auto py-1 font-mono text-xs leading-4.5"
            tabIndex={0}
            role="group"
            aria-label={`Lines of ${visibleText(path)}`}
          >
            {edits.length > 1 && (
              <p className="px-3 text-faint">
                <VisibleText text={path} />
              </p>
            )}
            {removed > 0 && (
              <p className="bg-fail-soft px-3 text-fail">− {pluralText(removed, 'line')}</p>
            )}
            {content.slice(0, limit).map((text, index) => (
              <p key={index} className="flex w-max min-w-full bg-pass-soft whitespace-pre">
                <span className="w-10 shrink-0 pr-2 text-right text-faint select-none">
                  {line + index}
                </span>
                <span className="pr-3">
                  <VisibleText text={text || ' '} />
                </span>
              </p>
            ))}
            {(hidden > 0 || truncated) && (
              <p className="px-3 text-faint">
                … {hidden > 0 ? pluralText(hidden, 'more line') : 'too large to show here'}
              </p>
            )}
          </div>
        );
      })}
    </div>
  );
}
