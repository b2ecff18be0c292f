import type { DiffedFile } from './diffed-files';

/** The files whose paths contain the filter. */
export const matchingFiles = (
  files: readonly DiffedFile[],
  filter: string | undefined,
): readonly DiffedFile[] =>
  filter ? files.filter(({ path }) => matchesPath(path, filter)) : files;

export const matchesPath = (path: string, filter = ''): boolean =>
  path.toLowerCase().includes(filter.toLowerCase());
