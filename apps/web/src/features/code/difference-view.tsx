import { useEffect, useRef, useState } from 'react';
import { DiffEditor } from './editor';

interface DifferenceViewProps {
  path: string;
  theirs: string;
  mine: string;
  /** Whether the merged text is shown below. */
  hasResult: boolean;
}

/** The current file beside the user’s version. */
export function DifferenceView({ path, theirs, mine, hasResult }: DifferenceViewProps) {
  const element = useRef<HTMLDivElement>(null);
  const [comparison, setComparison] = useState<DiffEditor | null>(null);
  useEffect(() => {
    if (!element.current) return;
    const made = new DiffEditor(element.current, path);
    setComparison(made);
    return () => made.dispose();
  }, [path]);
  useEffect(() => comparison?.show(theirs, mine), [comparison, theirs, mine]);
  return (
    <section
      aria-label="Difference between theirs and mine"
      className="flex min-h-0 flex-1 flex-col border-b"
    >
      <div aria-hidden className="flex shrink-0 border-b bg-sunken text-xs text-faint">
        <span className="flex-1 px-3 py-0.5">Theirs</span>
        <span className="flex-1 px-3 py-0.5">Mine</span>
      </div>
      <div ref={element} className="min-h-0 flex-1" />
      {hasResult && (
        <p className="shrink-0 border-t bg-sunken px-3 py-0.5 text-xs text-faint">Result</p>
      )}
    </section>
  );
}
