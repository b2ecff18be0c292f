import { visibleText } from '@belay/protocol';
import { clsx } from 'clsx';
import { FoldMark } from '@/components/ui/fold';
import { VisibleText } from '@/components/ui/visible-text';
import { fileDiff, type DiffedFile } from '@/features/changes/diffed-files';
import type { SessionPatch } from './use-patch';

/** How many lines of one file are shown here; the session’s own page shows all. */
const maxLines = 500;
const maxFiles = 100;

/** The changed files, which can be expanded to show their lines. */
export function PatchFiles({ patch, label }: { patch: SessionPatch; label: string }) {
  const { files, tooLarge } = patch;
  if (tooLarge)
    return <Note>The changes are too large to show here. Open the session to see them.</Note>;
  if (files.length === 0) return <Note>No files changed.</Note>;
  return (
    <ul aria-label={`Files changed by ${label}`} className="divide-y border-t">
      {files.slice(0, maxFiles).map((file) => (
        <li key={file.path}>
          <PatchFile file={file} open={files.length <= 3} />
        </li>
      ))}
      {files.length > maxFiles && (
        <Note>{files.length - maxFiles} more files. Open the session to see them.</Note>
      )}
    </ul>
  );
}

const Note = ({ children }: { children: React.ReactNode }) => (
  <p className="border-t px-3 py-2 text-sm text-faint">{children}</p>
);

function PatchFile({ file, open }: { file: DiffedFile; open: boolean }) {
  const { path, added, removed, binary, status, part } = file;
  const lines = part === undefined ? [] : fileDiff(part).hunks.flatMap(linesOf);
  return (
    <details className="group/fold" open={open}>
      <summary className="flex h-7 list-none items-center gap-1.5 bg-sunken px-3 text-xs">
        <FoldMark />
        <span className="min-w-0 flex-1 truncate font-mono" title={visibleText(path)}>
          <VisibleText text={path} />
        </span>
        {status !== 'modified' && <span className="text-faint">{status}</span>}
        <span className="text-pass tabular-nums">+{added}</span>
        <span className="text-fail tabular-nums">−{removed}</span>
      </summary>
      {binary ? (
        <p className="px-3 py-2 text-sm text-faint">Binary file</p>
      ) : (
        <div
          tabIndex={0}
          role="group"
          aria-label={`Lines of ${visibleText(path)}`}
          className="max-h-96 overflow-auto py-1 font-mono text-xs leading-4.5"
        >
          {lines.slice(0, maxLines).map(({ kind, text }, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- a line has no other key
            <div key={index} className={clsx('w-max min-w-full whitespace-pre', looks[kind])}>
              <span aria-hidden={kind === ' '} className="inline-block w-5 text-center">
                {kind === '-' ? '−' : kind === '@' ? '' : kind}
              </span>
              <VisibleText text={text || ' '} />
            </div>
          ))}
          {lines.length > maxLines && (
            <p className="px-3 text-faint">{lines.length - maxLines} more lines.</p>
          )}
        </div>
      )}
    </details>
  );
}

const looks = { ' ': '', '+': 'bg-pass-soft', '-': 'bg-fail-soft', '@': 'text-faint' } as const;

type Hunk = ReturnType<typeof fileDiff>['hunks'][number];

const linesOf = ({ header, lines }: Hunk): { kind: keyof typeof looks; text: string }[] => [
  { kind: '@', text: header },
  ...lines,
];
