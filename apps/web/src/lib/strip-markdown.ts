/** More than this is not shown in one line; the patterns below take time by its square. */
const longest = 2_000;

/** Markdown as one line of plain text, for places that show no more than a line. Code keeps its words. */
export function stripMarkdown(markdown: string): string {
  return markdown
    .slice(0, longest)
    .replaceAll(/^\s*```.*$/gm, '')
    .replaceAll(/^\s*(#{1,6}|[-*+]( \[[ xX]\])?|>)\s+/gm, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)\s]*\)/g, '$1')
    .replaceAll(/(\*\*|__)(.+?)\1/g, '$2')
    .replaceAll(/(`+)(.+?)\1/g, '$2')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
