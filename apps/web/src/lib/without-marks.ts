/** Markdown as one line of plain text, for places that show no more than a line. Code keeps its words. */
export function withoutMarks(markdown: string): string {
  return markdown
    .replaceAll(/^\s*```.*$/gm, '')
    .replaceAll(/^\s*(#{1,6}|[-*+]( \[[ xX]\])?|>)\s+/gm, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)\s]*\)/g, '$1')
    .replaceAll(/(\*\*|__)(.+?)\1/g, '$2')
    .replaceAll(/(`+)(.+?)\1/g, '$2')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
