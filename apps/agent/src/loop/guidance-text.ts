import { guidedBy } from './guide-files.js';

type Guidance = ReadonlyMap<string, string>;

/** Guidance found during the work: a message at the end, because earlier messages are in the provider’s cache. */
export function foundGuidance(guidance: Guidance): string {
  const texts = [skillsText(guidance), guidesText(guidance)].filter((text) => text !== '');
  return `More guidance of this workspace, which the user trusts:\n\n${texts.join('\n\n')}`;
}

/** Empty if there are no skills. */
export function skillsText(guidance: Guidance): string {
  const known = [...guidance].filter(([path]) => isSkill(path));
  if (known.length === 0) return '';
  return [
    'Instructions for special work; read the file when its work comes up.',
    ...known.map(([path, text]) => `- ${path}: ${text}`),
  ].join('\n');
}

/** The nearest guide comes last and has the highest priority. */
export function guidesText(guidance: Guidance): string {
  return [...guidance]
    .filter(([path]) => !isSkill(path))
    .sort(([a], [b]) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1))
    .map(([path, text]) => `From ${path} (applies to ${scopeOf(path)}):\n\n${text.trim()}`)
    .join('\n\n');
}

const depthOf = (path: string): number => guidedBy(path).folder.split('/').filter(Boolean).length;

function scopeOf(path: string): string {
  const { folder } = guidedBy(path);
  const isBeside = path.split('/').slice(0, -1).join('/') === folder;
  if (isBeside) return 'its folder and below';
  return folder === '' ? 'the whole workspace' : `${folder} and below`;
}

const isSkill = (path: string): boolean => path.endsWith('/SKILL.md');
