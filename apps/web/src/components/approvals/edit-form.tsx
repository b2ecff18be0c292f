import { useState } from 'react';
import { Button } from '@/components/ui/button';
import { TextArea } from '@/components/ui/field';

interface EditFormProps {
  field: string;
  text: string;
  onAnswer(text: string): void;
  onCancel(): void;
}

/** Changes a field of a call before it is allowed. */
export function EditForm({ field, text: first, onAnswer, onCancel }: EditFormProps) {
  const [text, setText] = useState(first);
  return (
    <form
      className="space-y-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') onAnswer(text);
      }}
    >
      <TextArea
        autoFocus
        aria-label={`Changed ${field}`}
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="max-h-[20vh] font-mono text-xs"
      />
      <div className="flex gap-2">
        <Button small type="submit" look="amber" disabled={text.trim() === ''}>
          Run this once
        </Button>
        <Button small look="ghost" onClick={onCancel}>
          Back
        </Button>
      </div>
    </form>
  );
}
