import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { TopBar } from './top-bar';

/** Instead of a page that is not there or cannot be shown: why, and the way on. */
export function NoPage({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <>
      <title>{`${title} · Belay`}</title>
      <TopBar />
      <main
        id="content"
        className="flex min-h-0 flex-1 flex-col items-center justify-center gap-2 p-6 text-center"
      >
        <h1 className="text-lg font-semibold">{title}</h1>
        {children}
        <Link to="/" className="text-sm underline">
          Go to the fleet
        </Link>
      </main>
    </>
  );
}
