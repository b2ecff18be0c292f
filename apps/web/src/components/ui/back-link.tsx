import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';

/** Leads from the page of one thing to the list of all. */
export const BackLink = ({
  to,
  children,
}: {
  to: '/actions' | '/evaluations';
  children: ReactNode;
}) => (
  <Link
    to={to}
    className="-ml-1 inline-flex h-6 items-center gap-1 rounded-md px-1 text-sm text-muted hover:text-ink"
  >
    <ChevronLeft size={14} aria-hidden /> {children}
  </Link>
);
