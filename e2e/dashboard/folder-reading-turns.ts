/** The turns of a model that reads a file of the user’s folder. */
export const folderReadingTurns = (path: string) => [
  { calls: [{ operation: 'files.read', input: { path } }] },
  { expect: 'words-of-the-folder', finish: 'Read it.' },
];
