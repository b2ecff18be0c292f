import type { ReactNode } from 'react';
import { clsx } from 'clsx';
import { TopBar } from './top-bar';

interface PageProps {
  title: string;
  className?: string;
  children: ReactNode;
}

/** A page outside of a session, below the top bar. */
export const Page = ({ title, className, children }: PageProps) => (
  <>
    <title>{title}</title>
    <TopBar />
    {/* Hidden inputs and texts for screen readers are absolute: they must scroll with the page. */}
    <main id="content" className={clsx('relative min-h-0 flex-1', className)}>
      {children}
    </main>
  </>
);
