import { useState } from 'react';
import { Check, FileCode, MessageSquare, X } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { Input } from '@/components/ui/field';
import { cx } from '@/lib/classes';
import { sayError } from '@/lib/toasts';
import { showFile } from '../sessions/places';
import { useSessionId } from '../sessions/session-context';
import { commentHunk, rejectHunk, useAccepted } from './decisions';
import type { DiffLine, FileDiff, Hunk } from './diff';

interface HunkViewProps {
  file: FileDiff;
  hunk: Hunk;
  decides: boolean;
}

/** One hunk with its lines and what a person decides on it. */
export function HunkView({ file, hunk, decides }: HunkViewProps) {
  const session = useSessionId();
  const [mode, setMode] = useState<'read' | 'reject' | 'comment'>('read');
  const accepted = useAccepted((state) => state.has(session, hunk.raw));
  const accept = useAccepted((state) => state.toggle);
  const send = async (text: string) => {
    setMode('read');
    try {
      await (mode === 'reject' ? rejectHunk : commentHunk)(session, { file, hunk, text });
    } catch (error) {
      sayError(error);
    }
  };
  return (
    <div className={cx('border-t', accepted && 'opacity-60')}>
      <div className="flex min-h-7 flex-wrap items-center gap-1 px-3 text-xs">
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
        {decides && mode === 'read' && (
          <>
            <Button
              small
              look="ghost"
              aria-pressed={accepted}
              onClick={() => accept(session, hunk.raw)}
            >
              <Check size={12} aria-hidden /> {accepted ? 'Accepted' : 'Accept'}
            </Button>
            <Button small look="ghost" onClick={() => setMode('reject')}>
              <X size={12} aria-hidden /> Reject…
            </Button>
            <Button small look="ghost" onClick={() => setMode('comment')}>
              <MessageSquare size={12} aria-hidden /> Comment…
            </Button>
          </>
        )}
      </div>
      {mode !== 'read' && <HunkForm mode={mode} onSend={send} onCancel={() => setMode('read')} />}
      <div
        className="overflow-x-auto font-mono text-xs leading-4.5"
        tabIndex={0}
        role="group"
        aria-label={`Lines of ${file.path}`}
      >
        {hunk.lines.map((line, index) => (
          <Line key={index} line={line} />
        ))}
      </div>
    </div>
  );
}

interface HunkFormProps {
  mode: 'reject' | 'comment';
  onSend(text: string): Promise<void>;
  onCancel(): void;
}

function HunkForm({ mode, onSend, onCancel }: HunkFormProps) {
  const [text, setText] = useState('');
  const reject = mode === 'reject';
  return (
    <form
      className="flex flex-wrap gap-2 px-3 pb-2"
      onSubmit={(event) => {
        event.preventDefault();
        void onSend(text.trim());
      }}
    >
      <Input
        autoFocus
        required
        aria-label={reject ? 'Why it is rejected' : 'Comment'}
        placeholder={
          reject ? 'Why: the agent reads this, and the lines go back' : 'The agent reads this'
        }
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="h-7 min-w-40 flex-1 max-md:h-8"
      />
      <Button small type="submit" look={reject ? 'danger' : 'solid'}>
        {reject ? 'Reject' : 'Send comment'}
      </Button>
      <Button small look="ghost" onClick={onCancel}>
        Back
      </Button>
    </form>
  );
}

function Line({ line: { kind, text, before, after } }: { line: DiffLine }) {
  const number = 'w-9 shrink-0 pr-1.5 text-right text-faint select-none';
  return (
    <div
      className={cx(
        'flex w-max min-w-full whitespace-pre',
        kind === '+' && 'bg-pass-soft',
        kind === '-' && 'bg-fail-soft',
      )}
    >
      <span className={number}>{before}</span>
      <span className={number}>{after}</span>
      <span
        aria-hidden={kind === ' '}
        className={cx('w-4 shrink-0', kind === '+' && 'text-pass', kind === '-' && 'text-fail')}
      >
        {kind === '-' ? '−' : kind}
      </span>
      <span className="pr-4">{text || ' '}</span>
    </div>
  );
}
