import { useMemo } from 'react';
import { Check, FileCode, MessageSquare, X } from 'lucide-react';
import { clsx } from 'clsx';
import { Button } from '@/components/ui/button';
import { Input } from '@/components/ui/field';
import { showFile } from '@/lib/panel-links';
import { useSessionId } from '@/features/session-log/session-context';
import { useAccepted } from './decisions';
import type { DiffLine, FileDiff, DiffHunk } from './diff';
import { HunkLines } from './hunk-lines';
import { linesOfChange, commentOn, rejectHunk, useReviewDrafts } from './review-drafts';
import type { PlacedThreads } from './review-threads';

/** The user’s text about a hunk that is not part of the review yet; kept while the hunk is scrolled out of view. */
export interface HunkDraft {
  mode: 'reject' | 'comment';
  text: string;
}

interface HunkViewProps {
  file: FileDiff;
  hunk: DiffHunk;
  /** The lines to render, excluding `to`; the first piece of a hunk (`from` 0) has its header. */
  from: number;
  to: number;
  threads: PlacedThreads['placed'];
  decides: boolean;
  draft: HunkDraft | undefined;
  onDraft(draft: HunkDraft | undefined): void;
}

/** A piece of a hunk; the first one includes the hunk’s header with its buttons. */
export function HunkView({ file, hunk, from, to, threads, ...rest }: HunkViewProps) {
  const session = useSessionId();
  const accepted = useAccepted(({ marks }) => marks[session]?.includes(hunk.raw) ?? false);
  return (
    <div className={clsx(accepted && 'opacity-60')}>
      {from === 0 && <HunkHead file={file} hunk={hunk} accepted={accepted} {...rest} />}
      <CodeLines
        path={file.path}
        lines={hunk.lines}
        {...{ from, to, threads }}
        decides={rest.decides}
      />
    </div>
  );
}

interface CodeLinesProps {
  path: string;
  /** Consecutive lines; those from `from` up to, but excluding, `to` are rendered. */
  lines: readonly DiffLine[];
  from: number;
  to: number;
  threads?: PlacedThreads['placed'];
  decides: boolean;
}

export function CodeLines({ path, lines, from, to, threads, decides }: CodeLinesProps) {
  const drawn = useMemo(() => lines.slice(from, to), [lines, from, to]);
  return (
    <div
      className="overflow-x-auto font-mono text-xs leading-4.5"
      tabIndex={0}
      role="group"
      aria-label={`Lines of ${path}`}
    >
      <HunkLines path={path} lines={drawn} of={lines} threads={threads} decides={decides} />
    </div>
  );
}

type HunkHeadProps = Omit<HunkViewProps, 'from' | 'to' | 'threads'> & { accepted: boolean };

function HunkHead({ file, hunk, accepted, decides, draft, onDraft }: HunkHeadProps) {
  const session = useSessionId();
  const accept = useAccepted((state) => state.toggle);
  const add = ({ mode, text }: HunkDraft) => {
    onDraft(undefined);
    const comment =
      mode === 'reject'
        ? rejectHunk(file, hunk, text)
        : commentOn(file.path, linesOfChange(hunk), text);
    useReviewDrafts.getState().put(session, comment);
  };
  return (
    <>
      <div className="flex min-h-7 flex-wrap items-center gap-1 border-t px-3 text-xs">
        <span className="min-w-0 flex-1 truncate font-mono text-faint max-md:flex-none max-md:basis-full">
          {hunk.header}
        </span>
        {file.to !== null && (
          <Button
            small
            look="ghost"
            onClick={() =>
              showFile(file.path, hunk.lines.find(({ kind }) => kind === '+')?.after ?? 1)
            }
          >
            <FileCode size={12} aria-hidden /> Open
          </Button>
        )}
        {decides && !draft && (
          <>
            <Button
              small
              look="ghost"
              aria-pressed={accepted}
              onClick={() => accept(session, hunk.raw)}
            >
              <Check size={12} aria-hidden /> {accepted ? 'Accepted' : 'Accept'}
            </Button>
            <Button small look="ghost" onClick={() => onDraft({ mode: 'reject', text: '' })}>
              <X size={12} aria-hidden /> Reject…
            </Button>
            <Button small look="ghost" onClick={() => onDraft({ mode: 'comment', text: '' })}>
              <MessageSquare size={12} aria-hidden /> Comment…
            </Button>
          </>
        )}
      </div>
      {draft && <HunkForm draft={draft} onDraft={onDraft} onAdd={add} />}
    </>
  );
}

interface HunkFormProps {
  draft: HunkDraft;
  onDraft(draft: HunkDraft | undefined): void;
  onAdd(draft: HunkDraft): void;
}

function HunkForm({ draft, onDraft, onAdd }: HunkFormProps) {
  const reject = draft.mode === 'reject';
  return (
    <form
      className="flex flex-wrap gap-2 px-3 pb-2"
      onSubmit={(event) => {
        event.preventDefault();
        const text = draft.text.trim();
        if (text !== '') onAdd({ ...draft, text });
      }}
    >
      <Input
        autoFocus={draft.text === ''}
        required
        aria-label={reject ? 'Reason' : 'Comment'}
        placeholder={
          reject
            ? 'Reason for the agent; the change is reverted when you submit the review'
            : 'Comment for the agent'
        }
        value={draft.text}
        onChange={(event) => onDraft({ ...draft, text: event.target.value })}
        className="h-7 min-w-40 flex-1 max-md:h-8"
      />
      <Button small type="submit" look="solid">
        Add to review
      </Button>
      <Button small look="ghost" onClick={() => onDraft(undefined)}>
        Back
      </Button>
    </form>
  );
}
