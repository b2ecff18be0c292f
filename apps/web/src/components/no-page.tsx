import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { Page } from './page';

/** Shown instead of a page that does not exist or failed: the reason and a link to the fleet. */
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
