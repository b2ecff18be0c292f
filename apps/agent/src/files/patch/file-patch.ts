import type { PatchHunk } from './parse-hunk.js';

/** A patch’s effect on one file. A null path means “no file” (`/dev/null`). */
export interface FilePatch {
  from: string | null;
  to: string | null;
  copy: boolean;
  /** The file mode that the patch sets. */
  mode: number | null;
  /** Deletes the file, whatever it contains. */
  whole: boolean;
  hunks: PatchHunk[];
}
