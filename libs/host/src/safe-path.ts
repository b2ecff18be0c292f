/**
 * Whether a path of a patch or an archive stays below the folder that it is applied to, and out of any `.git`, also
 * where a file system takes other spellings for it: other case and code points without width (HFS+), dots, spaces and
 * streams at the end, and short names (NTFS).
 */
export function isSafePath(path: string): boolean {
  if (path === '' || path.startsWith('/') || path.includes('\0')) return false;
  return path.split('/').every((part) => part !== '' && !/^\.\.?$/.test(part) && !isGit(part));
}

function isGit(part: string): boolean {
  const plain = part
    .replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
    .split(/[\\:]/)
    .map((piece) => piece.replace(/[. ]+$/, '').toLowerCase());
  return plain.some((piece) => piece === '.git' || /^git~\d+$/.test(piece));
}
