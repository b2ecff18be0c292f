import type { ReactNode } from 'react';
import { FoldMark } from './fold';

/** Collapsible content that is rarely needed. */
export function Disclosure({ title, children }: { title: string; children: ReactNode }) {
  return (
    <details className="group/fold">
      <summary className="flex w-fit list-none items-center gap-1 rounded-sm text-sm font-medium text-muted hover:text-ink">
        <FoldMark />
        {title}
      </summary>
      {children}
    </details>
  );
}
