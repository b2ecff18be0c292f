/** The fields `name` and `description` of a file’s front matter: plain, quoted or folded YAML strings. */
export function frontMatter(text: string): { name?: string; description?: string } {
  const block = /^---\r?\n([^]*?)\r?\n---\s*(?:\r?\n|$)/.exec(text)?.[1];
  if (block === undefined) return {};
  return { name: field(block, 'name'), description: field(block, 'description') };
}

function field(block: string, name: string): string | undefined {
  const match = new RegExp(`^${name}:[ \\t]*(.*)((?:\\r?\\n[ \\t]+.*)*)`, 'm').exec(block);
  if (!match) return undefined;
  const first = (match[1] ?? '').replace(/^[>|][+-]?$/, '');
  const words = `${first} ${match[2] ?? ''}`.replaceAll(/\s+/g, ' ').trim();
  return words.replace(/^(["'])(.*)\1$/, '$2') || undefined;
}
