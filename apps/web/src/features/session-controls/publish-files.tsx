import { pluralText, numberText, type PreparedPublish } from '@belay/protocol';
import { VisibleText } from '@/components/ui/visible-text';

const marks = {
  added: { letter: 'A', look: 'text-pass' },
  changed: { letter: 'M', look: 'text-muted' },
  deleted: { letter: 'D', look: 'text-fail' },
  renamed: { letter: 'R', look: 'text-muted' },
} as const;

const mostShown = 500;

/** The files changed by the commit that would be pushed, as compared by the server. */
export function PublishFiles({ prepared: { files } }: { prepared: PreparedPublish }) {
  const sum = (name: 'added' | 'removed') =>
    numberText(files.reduce((all, file) => all + (file[name] ?? 0), 0));
  return (
    <div>
      <p className="mb-1 flex gap-2 text-sm tabular-nums">
        <span className="font-medium">{pluralText(files.length, 'file')}</span>
        <span className="text-pass">+{sum('added')}</span>
        <span className="text-fail">−{sum('removed')}</span>
      </p>
      <ul
        aria-label="Changed files"
        tabIndex={0}
        className="max-h-48 overflow-y-auto rounded-md border bg-sunken py-1 font-mono text-xs"
      >
        {files.slice(0, mostShown).map(({ path, from, status, added, removed }) => (
          <li key={path} className="flex items-baseline gap-2 px-3 py-0.5">
            <span title={status} className={marks[status].look}>
              {marks[status].letter}
            </span>
            <span className="min-w-0 flex-1 break-all">
              {from && (
                <span className="text-faint">
                  <VisibleText text={from} /> →{' '}
                </span>
              )}
              <VisibleText text={path} />
            </span>
            <span className="shrink-0 text-faint tabular-nums">
              {added === null ? 'binary' : `+${added} −${removed ?? 0}`}
            </span>
          </li>
        ))}
        {files.length > mostShown && (
          <li className="px-3 py-0.5 text-faint">and {files.length - mostShown} more</li>
        )}
      </ul>
    </div>
  );
}
