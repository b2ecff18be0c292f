import { useState } from 'react';
import { Pencil, X } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { TextArea } from '@/components/ui/field';
import { IconButton } from '@/components/ui/icon-button';
import type { LineComment } from './review-drafts';

interface DraftedCommentProps {
  comment: LineComment;
  onChange(text: string): void;
  onRemove(): void;
}

/** A drafted comment or rejection below its lines, shown until the review is submitted. */
export function DraftedComment({ comment, onChange, onRemove }: DraftedCommentProps) {
  const [editing, setEditing] = useState(false);
  const { text, from, to } = comment;
  if (editing)
    return (
      <CommentForm
        lines={linesText(from, to)}
        text={text}
        onCancel={() => setEditing(false)}
        onSave={(next) => {
          setEditing(false);
          onChange(next);
        }}
      />
    );
  return (
    <div className="flex items-start gap-1 border-y bg-amber-soft px-3 py-1.5 font-sans text-sm">
      <p className="min-w-0 flex-1 break-words whitespace-pre-wrap">
        <span className="text-xs text-muted">
          {linesText(from, to)}
          {comment.rejected && ' · rejected, reverted when you submit'} · not sent yet
        </span>
        <br />
        {text}
      </p>
      <IconButton
        label="Edit the comment"
        icon={Pencil}
        className="size-6"
        onClick={() => setEditing(true)}
      />
      <IconButton label="Remove the comment" icon={X} className="size-6" onClick={onRemove} />
    </div>
  );
}

interface CommentFormProps {
  lines: string;
  text: string;
  onSave(text: string): void;
  onCancel(): void;
}

export function CommentForm({ lines, text: first, onSave, onCancel }: CommentFormProps) {
  const [text, setText] = useState(first);
  return (
    <form
      className="space-y-2 border-y bg-sunken px-3 py-2 font-sans"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) onSave(text.trim());
      }}
    >
      <TextArea
        autoFocus
        aria-label={`Comment on ${lines}`}
        placeholder={`Comment on ${lines}; Shift-click another line to include all lines between`}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && onCancel()}
      />
      <div className="flex gap-2">
        <Button small look="solid" type="submit">
          Add to review
        </Button>
        <Button small look="ghost" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

export const linesText = (from: number, to: number): string =>
  from === to ? `line ${to}` : `lines ${from} to ${to}`;
