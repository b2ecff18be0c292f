import type { ReactNode } from 'react';

/** A name and its value in a two-column `dl`. */
export const Detail = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt className="text-faint">{name}</dt>
    <dd className="min-w-0 tabular-nums">{children}</dd>
  </>
);
