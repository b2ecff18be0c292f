import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { Page } from './page';

/** Instead of a page that is not there or cannot be shown: why, and the way on. */
export function NoPage({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Page
      title={`${title} · Belay`}
      className="flex flex-col items-center justify-center gap-2 p-6 text-center"
    >
      <h1 className="text-lg font-semibold">{title}</h1>
      {children}
      <Link to="/" className="text-sm underline">
        Go to the fleet
      </Link>
    </Page>
  );
}
