type Guidance = ReadonlyMap<string, string>;

/** Guidance that was found during the work: a message at the end, for what comes before it is in the provider’s cache. */
export function foundGuidance(guidance: Guidance): string {
  const texts = [skillsText(guidance), guidesText(guidance)].filter((text) => text !== '');
  return `More guidance of this workspace, which the user trusts:\n\n${texts.join('\n\n')}`;
}

/** Empty when there are none. */
export function skillsText(guidance: Guidance): string {
  const known = [...guidance].filter(([path]) => isSkill(path));
  if (known.length === 0) return '';
  return [
    'Instructions for special work; read the file when its work comes up.',
    ...known.map(([path, text]) => `- ${path}: ${text}`),
  ].join('\n');
}

/** The nearest comes last and counts most. */
export function guidesText(guidance: Guidance): string {
  return [...guidance]
    .filter(([path]) => !isSkill(path))
    .sort(([a], [b]) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1))
    .map(([path, text]) => `From ${path} (applies to its folder and below):\n\n${text.trim()}`)
    .join('\n\n');
}

const isSkill = (path: string): boolean => path.endsWith('/SKILL.md');
