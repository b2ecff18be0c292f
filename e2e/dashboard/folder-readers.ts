export const reads = (path: string) => [
  { calls: [{ operation: 'files.read', input: { path } }] },
  { expect: 'words-of-the-folder', finish: 'Read it.' },
];
