/** Longer texts are cut: one line shows no more, and the patterns below take quadratic time. */
const longest = 2_000;

/** Converts Markdown to one line of plain text. The text of code is kept. */
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
