import type { PatchHunk } from './parse-hunk.js';

/** What a patch does to one file. A null path is “no file” (`/dev/null`). */
export interface FilePatch {
  from: string | null;
  to: string | null;
  copy: boolean;
  /** The file mode that the patch asks for. */
  mode: number | null;
  /** The file is deleted whatever is in it. */
  whole: boolean;
  hunks: PatchHunk[];
}
