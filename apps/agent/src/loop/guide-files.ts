/**
 * The files with instructions for agents that apply to a folder and everything below, best first: a folder is guided by
 * the first kind that it has. The others are those of other agents, for repositories without `AGENTS.md`.
 */
export const guideFiles = [
  'AGENTS.md',
  'CLAUDE.md',
  'GEMINI.md',
  '.cursorrules',
  '.cursor/rules/*.{md,mdc}',
  '.github/copilot-instructions.md',
] as const;

/** The folder that a guide applies to, and the place of its kind in the list; the workspace’s root is empty. */
export function guidedBy(path: string): { folder: string; rank: number } {
  const names = path.split('/');
  for (const [rank, file] of guideFiles.entries()) {
    const folder = names.slice(0, -file.split('/').length);
    if (matches(path.slice(folder.join('/').length).replace(/^\//, ''), file))
      return { folder: folder.join('/'), rank };
  }
  return { folder: names.slice(0, -1).join('/'), rank: guideFiles.length };
}

function matches(name: string, file: string): boolean {
  const [folder = '', ends] = file.split('/*');
  if (ends === undefined) return name === file;
  return name.startsWith(`${folder}/`) && /\.mdc?$/.test(name);
}
