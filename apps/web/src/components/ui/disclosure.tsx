import type { ReactNode } from 'react';
import { ChevronRight } from 'lucide-react';

/** What is seldom needed, behind its name. */
export function Disclosure({ title, children }: { title: string; children: ReactNode }) {
  return (
    <details className="group/more">
      <summary className="flex w-fit list-none items-center gap-1 rounded-sm text-sm font-medium text-muted hover:text-ink">
        <ChevronRight
          size={14}
          aria-hidden
          className="transition-transform duration-100 group-open/more:rotate-90"
        />
        {title}
      </summary>
      {children}
    </details>
  );
}
