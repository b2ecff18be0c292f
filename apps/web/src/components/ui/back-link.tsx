import type { ReactNode } from 'react';
import { Link, type LinkProps } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';

/** Leads from the page of one thing to the list of all. */
export const BackLink = ({
  children,
  ...place
}: Pick<LinkProps, 'to' | 'params'> & { children: ReactNode }) => (
  <Link
    {...place}
    className="-ml-1 inline-flex h-6 max-w-full items-center gap-1 rounded-md px-1 text-sm text-muted hover:text-ink"
  >
    <ChevronLeft size={14} aria-hidden className="shrink-0" />
    <span className="truncate">{children}</span>
  </Link>
);
