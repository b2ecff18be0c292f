import { Fragment, useMemo, useState, type ReactNode } from 'react';
import { clsx } from 'clsx';
import { useSessionId } from '@/features/session-log/session-context';
import { usePreferences } from '@/lib/preferences';
import { VisibleText } from '@/components/ui/visible-text';
import { useColours, type Colours } from './use-colours';
import type { DiffLine } from './diff';
import { CommentForm, DraftedComment, linesText } from './line-comments';
import { noThreads, type ReviewThread } from './review-threads';
import { ThreadView } from './thread-view';
import { styledSegments, type StyledSegment } from './styled-segments';
import { commentOn, useReviewDraft, useReviewDrafts, type LineComment } from './review-drafts';
import { changedWords, pairLines, type Segment } from './word-diff';

interface HunkLinesProps {
  path: string;
  lines: readonly DiffLine[];
  /** The lines that include these, which are highlighted as a whole. */
  of?: readonly DiffLine[];
  /** The threads of reviews, by their last lines. */
  threads?: ReadonlyMap<DiffLine, readonly ReviewThread[]> | undefined;
  /** Whether lines can be commented on. */
  decides: boolean;
}

/** Lines of a hunk, unified or side by side, with the drafted and sent comments on them. */
export function HunkLines({ path, lines, of = lines, threads, decides }: HunkLinesProps) {
  const split = usePreferences((state) => state.splitDiff);
  const words = useMemo(() => changedWords(lines), [lines]);
  const colours = useColours(path, of);
  const session = useSessionId();
  const { comments: all } = useReviewDraft(session);
  const { put, remove } = useReviewDrafts.getState();
  const [range, setRange] = useState<{ from: number; to: number } | null>(null);
  const choose = (index: number, extend: boolean) =>
    setRange((now) =>
      extend && now
        ? { from: Math.min(now.from, index), to: Math.max(now.to, index) }
        : { from: index, to: index },
    );
  const chosen = range && lines.slice(range.from, range.to + 1);
  const comments = all.filter((comment) => comment.path === path);
  const after = (index: number) => {
    const line = lines[index];
    const here = line ? comments.filter((comment) => isAt(comment, line)) : [];
    const sent = (line && threads?.get(line)) ?? noThreads;
    const form = chosen && range.to === index ? commentOn(path, chosen, '') : null;
    return (
      <>
        {sent.map((thread) => (
          <ThreadView key={thread.id} thread={thread} decides={decides} />
        ))}
        {here.map((comment) => (
          <DraftedComment
            key={comment.id}
            comment={comment}
            onChange={(text) => put(session, { ...comment, text })}
            onRemove={() => remove(session, comment.id)}
          />
        ))}
        {form && (
          <CommentForm
            lines={linesText(form.from, form.to)}
            text=""
            onCancel={() => setRange(null)}
            onSave={(text) => {
              setRange(null);
              put(session, { ...form, text });
            }}
          />
        )}
      </>
    );
  };
  const shared = { words, colours, onComment: decides ? choose : undefined };
  if (split) return <SplitLines lines={lines} after={after} {...shared} />;
  return lines.map((line, index) => (
    <Fragment key={index}>
      <Line line={line} index={index} isChosen={isIn(range, index)} {...shared} />
      {after(index)}
    </Fragment>
  ));
}

const isAt = ({ side, to }: LineComment, line: DiffLine): boolean =>
  line[side] === to && (side === 'after' || line.kind === '-');

const isIn = (range: { from: number; to: number } | null, index: number): boolean =>
  range !== null && index >= range.from && index <= range.to;

interface SharedProps {
  words: ReadonlyMap<DiffLine, Segment[]>;
  colours: Colours | undefined;
  onComment: ((index: number, extend: boolean) => void) | undefined;
}

interface SplitLinesProps extends SharedProps {
  lines: readonly DiffLine[];
  after(index: number): ReactNode;
}

function SplitLines({ lines, after, ...shared }: SplitLinesProps) {
  const pairs = useMemo(() => pairLines(lines), [lines]);
  const half = 'min-w-0 flex-1 overflow-hidden';
  return pairs.map(({ before, after: next }, index) => {
    const at = [before, next].flatMap((line) => (line ? lines.indexOf(line) : []));
    return (
      <Fragment key={index}>
        <div className="flex">
          <div className={clsx(half, 'border-r')}>
            {before ? <Line line={before} index={at[0] ?? 0} only="before" {...shared} /> : <Gap />}
          </div>
          <div className={half}>
            {next ? <Line line={next} index={at.at(-1) ?? 0} only="after" {...shared} /> : <Gap />}
          </div>
        </div>
        {[...new Set(at)].map((each) => (
          <Fragment key={each}>{after(each)}</Fragment>
        ))}
      </Fragment>
    );
  });
}

const Gap = () => <div className="h-4.5 bg-sunken" />;

interface LineProps extends SharedProps {
  line: DiffLine;
  index: number;
  isChosen?: boolean;
  /** Shows only the line number of this side, for the side-by-side view. */
  only?: 'before' | 'after';
}

function Line({ line, index, isChosen, only, words, colours, onComment }: LineProps) {
  const { kind, text } = line;
  const parts = styledSegments(text, colours?.get(line), words.get(line));
  const number = 'w-9 shrink-0 pr-1.5 text-right text-faint select-none';
  return (
    <div
      className={clsx(
        'group/line relative flex min-w-full whitespace-pre',
        only ? 'w-full' : 'w-max',
        kind === '+' && 'bg-pass-soft',
        kind === '-' && 'bg-fail-soft',
        isChosen && 'outline-1 -outline-offset-1 outline-amber',
      )}
    >
      {onComment && (
        <button
          type="button"
          aria-label={`Comment on line ${line.after ?? line.before ?? ''}`}
          onClick={(event) => onComment(index, event.shiftKey)}
          className="absolute left-0.5 z-1 h-4.5 w-4.5 rounded-sm bg-amber-fill font-semibold text-on-amber opacity-0 group-hover/line:opacity-100 focus-visible:opacity-100"
        >
          +
        </button>
      )}
      {only !== 'after' && <span className={number}>{line.before}</span>}
      {only !== 'before' && <span className={number}>{line.after}</span>}
      <span
        aria-hidden={kind === ' '}
        className={clsx('w-4 shrink-0', kind === '+' && 'text-pass', kind === '-' && 'text-fail')}
      >
        {kind === '-' ? '−' : kind}
      </span>
      <span className={clsx('pr-4', only && 'min-w-0 overflow-x-auto [scrollbar-width:none]')}>
        <LineText kind={kind} parts={parts} />
      </span>
    </div>
  );
}

function LineText({ kind, parts }: { kind: DiffLine['kind']; parts: readonly StyledSegment[] }) {
  const changedLook = kind === '+' ? 'bg-pass/25' : 'bg-fail/25';
  if (parts.length === 0) return ' ';
  return parts.map(({ text, changed, kind: syntax }, at) => {
    if (changed)
      return (
        <mark key={at} className={clsx('text-ink', changedLook)}>
          <VisibleText text={text} />
        </mark>
      );
    if (syntax === 0) return <VisibleText key={at} text={text} />;
    return (
      <span key={at} className={looks[syntax]}>
        <VisibleText text={text} />
      </span>
    );
  });
}

/** In the order of `syntaxKinds`. */
const looks = [
  '',
  'text-code-keyword',
  'text-code-string',
  'text-code-comment',
  'text-code-number',
  'text-code-title',
  'text-code-type',
  'text-code-attribute',
];
