import { useState } from 'react';
import { visibleText } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Input } from '@/components/ui/field';
import { Markdown } from '@/components/ui/markdown';
import { VisibleText } from '@/components/ui/visible-text';
import { useReadOnly } from '@/lib/role';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';

interface QuestionAnswerProps {
  session: string;
  question: string;
  options: readonly string[];
}

/**
 * A question of the agent with its options and a field for a free answer. It can be answered only
 * once, so use the question as the `key`.
 */
export function QuestionAnswer({ session, question, options }: QuestionAnswerProps) {
  const readOnly = useReadOnly();
  const [text, setText] = useState('');
  const [sent, setSent] = useState(false);
  const answer = (value: string) => {
    setSent(true);
    attempt(async () => {
      try {
        await client.sessions.message(session, { text: value, delivery: 'steer' });
      } catch (error) {
        setSent(false);
        throw error;
      }
    });
  };
  const asked = (
    <div className="text-sm font-medium">
      <Markdown text={question} />
    </div>
  );
  if (readOnly) return asked;
  return (
    <div className="space-y-2">
      {asked}
      {options.length > 0 && (
        <div className="flex flex-wrap gap-2">
          {options.map((option) => (
            <Button
              key={option}
              small
              disabled={sent}
              onClick={() => answer(option)}
              className="h-auto! min-h-6 max-w-full shrink! py-0.5 text-left whitespace-normal! [overflow-wrap:anywhere]"
            >
              <VisibleText text={option} />
            </Button>
          ))}
        </div>
      )}
      <form
        className="flex gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim()) answer(text.trim());
        }}
      >
        <Input
          aria-label={`Answer: ${visibleText(question)}`}
          placeholder="Your answer"
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="h-7 max-w-md max-md:h-8"
        />
        <Button small look="amber" type="submit" disabled={sent} className="h-7">
          Answer
        </Button>
      </form>
    </div>
  );
}
