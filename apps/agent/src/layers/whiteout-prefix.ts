/** An entry with this before its name stands for a file that was removed, as in a layer of an OCI image. */
export const whiteoutPrefix = '.wh.';
