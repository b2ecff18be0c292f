import { isDeepStrictEqual } from 'node:util';
import { totalOfChange, type EventArgs } from '@belay/protocol';
import type { Recorded } from './recorder.js';

const maxListed = 500;

/** The changed files as a `commit` event lists them, with the total if it is not their sum. */
export function listedChanges({
  changes,
  total,
}: Pick<Recorded, 'changes' | 'total'>): Pick<EventArgs<'commit'>, 'files' | 'total'> {
  const files = changes
    .slice(0, maxListed)
    .map(({ path, added, removed }) => ({ path, added, removed }));
  return { files, ...(!isDeepStrictEqual(total, totalOfChange({ files })) && { total }) };
}
