import { useEffect, useState } from 'react';
import { useLog, useView } from '@/features/session-log/session-context';
import { stripAnsi } from '@/lib/strip-ansi';
import { perFrame } from '@/lib/per-frame';

/** The last lines that a running command printed. */
export function LiveOutput({ terminal }: { terminal: string }) {
  const buffer = useLog((log) => log.terminals.get(terminal));
  const since = useView((view) => view.terminalEnds.get(terminal) ?? 0);
  const [text, setText] = useState('');
  useEffect(() => {
    if (!buffer) return;
    const read = () => {
      const bytes = buffer.slice(Math.max(since, buffer.end - 4_096));
      setText(
        stripAnsi(new TextDecoder().decode(bytes)).trimEnd().split('\n').slice(-6).join('\n'),
      );
    };
    read();
    const readSoon = perFrame<void>(read);
    return buffer.listen(() => readSoon());
  }, [buffer, since]);
  if (!text.trim()) return null;
  return (
    <pre className="border-t bg-sunken px-3 py-1.5 text-xs leading-4.5 break-words whitespace-pre-wrap text-muted">
      {text}
    </pre>
  );
}
