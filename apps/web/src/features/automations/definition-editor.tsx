import { useEffect, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { dateTimeText } from '@belay/protocol';
import { Field, TextArea } from '@/components/ui/field';
import { VisibleText } from '@/components/ui/visible-text';
import { client } from '@/lib/server';
import { capitalized } from './trigger-words';

/** How long typing pauses before the server checks the text. */
const pauseMs = 400;

interface DefinitionEditorProps {
  text: string;
  onChange(text: string): void;
  readOnly?: boolean;
}

/** A definition as YAML, with what the server says about it below. */
export function DefinitionEditor({ text, onChange, readOnly = false }: DefinitionEditorProps) {
  return (
    <div className="space-y-2">
      <Field label="Definition (YAML)">
        <TextArea
          aria-label="Definition (YAML)"
          value={text}
          readOnly={readOnly}
          spellCheck={false}
          onChange={({ target }) => onChange(target.value)}
          className="max-h-[60vh] min-h-72 font-mono text-xs"
        />
      </Field>
      {!readOnly && text.trim() !== '' && <Verdict text={text} />}
    </div>
  );
}

function Verdict({ text }: { text: string }) {
  const settled = useSettled(text);
  const { data, error } = useQuery({
    queryKey: ['automation-check', settled],
    queryFn: () => client.automations.check({ text: settled }),
    placeholderData: (before) => before,
    retry: false,
  });
  if (error) return <p className="text-sm text-fail">{error.message}</p>;
  if (!data) return null;
  const { problems, warnings, next, schedule } = data;
  return (
    <div role="status" className="space-y-1 text-sm">
      {problems.map(({ path, message, line }) => (
        <p key={`${path} ${message}`} className="break-words text-fail">
          {line !== null && <span className="text-muted">Line {line}: </span>}
          {path && <code className="text-xs">{path} </code>}
          <VisibleText text={message} />
        </p>
      ))}
      {warnings.map((warning) => (
        <p key={warning} className="break-words text-amber">
          <VisibleText text={warning} />
        </p>
      ))}
      {schedule !== null && next.length > 0 && (
        <p className="text-muted">
          {capitalized(schedule)}. Next: {next.slice(0, 3).map(dateTimeText).join(' · ')}
        </p>
      )}
      {problems.length === 0 && <p className="text-pass">The definition is valid.</p>}
    </div>
  );
}

/** The text once it has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
