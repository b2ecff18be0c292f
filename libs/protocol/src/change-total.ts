import { z } from 'zod';

const count = z.int().nonnegative();

/** All files of a change with their lines; a moved file counts once, with the lines that differ. */
export const changeTotal = z.object({ files: count, added: count, removed: count });
export type ChangeTotal = z.infer<typeof changeTotal>;

interface ListedChange {
  files: readonly { added: number; removed: number }[];
  /** Omitted if it is the sum of `files`. */
  total?: ChangeTotal | undefined;
}

/** The total of a change, which may have more files than it lists. */
export const totalOfChange = ({ files, total }: ListedChange): ChangeTotal =>
  total ??
  files.reduce<ChangeTotal>(
    (sum, file) => ({
      files: sum.files + 1,
      added: sum.added + file.added,
      removed: sum.removed + file.removed,
    }),
    { files: 0, added: 0, removed: 0 },
  );
