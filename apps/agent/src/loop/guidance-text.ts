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
    .sort(([a], [b]) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1))
    .map(([path, text]) => `From ${path} (applies to its folder and below):\n\n${text.trim()}`)
    .join('\n\n');
}

const isSkill = (path: string): boolean => path.endsWith('/SKILL.md');
