import { useState } from 'react';
import { ChevronRight } from 'lucide-react';
import type { FileDiff } from './diff';
import { HunkView } from './hunk-view';

/** The changes of one file, folded or open. What is folded is not drawn, nor laid out what is scrolled away. */
export function FileChanges({ file, decides }: { file: FileDiff; decides: boolean }) {
  const lines = file.hunks.flatMap((hunk) => hunk.lines);
  const added = lines.filter(({ kind }) => kind === '+').length;
  const renamed = file.from !== null && file.to !== null && file.from !== file.to;
  const removed = lines.filter(({ kind }) => kind === '-').length;
  const [open, setOpen] = useState(lines.length < 600);
  return (
    <details
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="group border-b [contain-intrinsic-size:auto_200px] [content-visibility:auto]"
    >
      <summary className="sticky top-0 z-10 flex list-none items-center gap-2 bg-sunken px-3 py-1 text-xs">
        <ChevronRight
          size={13}
          aria-hidden
          className="text-faint transition-transform duration-100 group-open:rotate-90"
        />
        <span className="min-w-0 flex-1 truncate font-mono" title={file.path}>
          {file.path}
        </span>
        {renamed && (
          <span className="max-w-1/2 truncate text-faint" title={file.from ?? ''}>
            renamed from {file.from}
          </span>
        )}
        {file.from === null && <span className="text-faint">new</span>}
        {file.to === null && <span className="text-faint">deleted</span>}
        <span className="text-pass tabular-nums">+{added}</span>
        <span className="text-fail tabular-nums">−{removed}</span>
      </summary>
      {file.binary && <p className="px-3 py-2 text-sm text-faint">A binary file changed.</p>}
      {open &&
        file.hunks.map((hunk) => (
          <HunkView key={hunk.raw} file={file} hunk={hunk} decides={decides} />
        ))}
    </details>
  );
}
