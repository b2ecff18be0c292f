import { useState } from 'react';
import { useQuestion, type Question } from '@/lib/ask';
import { Button } from './button';
import { Dialog } from './dialog';
import { Field, Input } from './field';
import { VisibleText } from './visible-text';

/** The dialog of `askText` and `askConfirm`. */
export function QuestionDialog() {
  const question = useQuestion((state) => state.question);
  if (!question) return null;
  return (
    <Dialog title={question.title} onClose={() => question.answer(null)}>
      <QuestionForm question={question} />
    </Dialog>
  );
}

function QuestionForm({ question }: { question: Question }) {
  const { text: explanation, lines = [], label, value = '', verb, danger, answer } = question;
  const [text, setText] = useState(value);
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        answer(text.trim());
      }}
    >
      {explanation && (
        <p className="text-sm text-muted">
          <VisibleText text={explanation} />
        </p>
      )}
      {lines.length > 0 && (
        <pre
          tabIndex={0}
          className="max-h-60 overflow-auto rounded-md border bg-sunken p-2 text-xs"
        >
          <VisibleText text={lines.join('\n')} />
        </pre>
      )}
      {label !== undefined && (
        <Field label={label}>
          <Input autoFocus value={text} onChange={(event) => setText(event.target.value)} />
        </Field>
      )}
      <div className="flex gap-2">
        <Button type="submit" look={danger ? 'danger' : 'solid'} autoFocus={label === undefined}>
          {verb}
        </Button>
        <Button look="ghost" onClick={() => answer(null)}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
