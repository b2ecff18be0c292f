import { useEffect, useState } from 'react';
import { VisibleText } from '@/components/ui/visible-text';
import { useLog, useView } from '@/features/session-log/session-context';
import { stripAnsi } from '@/lib/strip-ansi';
import { perFrame } from '@/lib/per-frame';

/** The last lines of an output, which stand below a folded card. */
export const tailOf = (text: string): string => text.trimEnd().split('\n').slice(-6).join('\n');

/** The last lines of an output; nothing while it is empty. */
export function OutputTail({ text }: { text: string }) {
  const lines = tailOf(text);
  if (!lines.trim()) return null;
  return (
    <pre className="border-t bg-sunken px-3 py-1.5 text-xs leading-4.5 break-words whitespace-pre-wrap text-muted">
      <VisibleText text={lines} />
    </pre>
  );
}

/** The latest output of a running action. */
export function ActionTail({ call }: { call: string }) {
  return <OutputTail text={useLog((log) => log.outputs.get(call) ?? '')} />;
}

/** The latest output of the command running in a terminal. */
export function CommandTail({ terminal }: { terminal: string }) {
  const buffer = useLog((log) => log.terminals.get(terminal));
  const since = useView((view) => view.terminalEnds.get(terminal) ?? 0);
  const [text, setText] = useState('');
  useEffect(() => {
    if (!buffer) return;
    const read = () => {
      const bytes = buffer.slice(Math.max(since, buffer.end - 4_096));
      setText(stripAnsi(new TextDecoder().decode(bytes)));
    };
    read();
    const readSoon = perFrame<void>(read);
    return buffer.listen(() => readSoon());
  }, [buffer, since]);
  return <OutputTail text={text} />;
}
