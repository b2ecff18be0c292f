/** A Dockerfile, as far as building it without a hub needs: where instructions begin, and what builder they ask for. */
interface Instruction {
  /** The index of its first line. */
  at: number;
  /** All its lines, without the here-documents that follow. */
  text: string;
  heredoc: boolean;
}

/** Lines inside of continued commands and here-documents may look like instructions and are none. */
function* instructionsOf(lines: string[]): Generator<Instruction> {
  for (let at = 0; at < lines.length; at++) {
    const first = lines[at] ?? '';
    if (/^\s*(#|$)/.test(first)) continue;
    const start = at;
    let text = first;
    while (/\\\s*$/.test(lines[at] ?? '') && at + 1 < lines.length)
      text += `\n${lines[++at] ?? ''}`;
    const ends = /^\s*(RUN|COPY|ADD)\s/i.test(first) ? heredocsOf(text) : [];
    for (const end of ends) while (++at < lines.length && lines[at]?.trimStart() !== end);
    yield { at: start, text, heredoc: ends.length > 0 };
  }
}

const heredocsOf = (text: string): string[] =>
  [...text.matchAll(/(?<!<)<<-?(?!<)(["']?)([A-Za-z_]\w*)\1/g)].map(([, , end = '']) => end);

/** What only BuildKit can build, in words; null when the classic builder can, too. */
export function needsBuildKit(text: string): string | null {
  for (const { text: whole, heredoc } of instructionsOf(text.split('\n'))) {
    if (heredoc) return 'a here-document';
    const [, verb, flag] =
      /^\s*(RUN|COPY|ADD)\s+(?:--(?:from|chown)=\S+\s+)*--(mount|network|security|chmod|link|parents|exclude|checksum|keep-git-dir)\b/i.exec(
        whole,
      ) ?? [];
    if (verb) return `${verb.toUpperCase()} --${flag}`;
  }
  return null;
}

/**
 * The same Dockerfile with names of local images in `FROM` and `COPY --from`. The line `# syntax=` goes, since it
 * names an image on a hub; the engine's own reader takes its place.
 */
export async function withLocalImages(
  text: string,
  local: (name: string) => Promise<string>,
): Promise<string> {
  const lines = text.split('\n');
  const stages = new Set<string>();
  const defaults = new Map<string, string>();
  const filled = (name: string) =>
    name.replace(/\$\{?(\w+)\}?/g, (all, key: string) => defaults.get(key) ?? all);
  const found = async (name: string) => {
    const whole = filled(name);
    return stages.has(name.toLowerCase()) || whole.includes('$') || whole === 'scratch'
      ? name
      : local(whole);
  };
  for (const { at } of instructionsOf(lines)) {
    const line = lines[at] ?? '';
    const [, key, value] = /^\s*ARG\s+(\w+)=["']?([^\s"']*)/i.exec(line) ?? [];
    if (key && value && stages.size === 0) defaults.set(key, value);
    const [, name, rest = ''] = /^\s*FROM\s+(?:--\S+\s+)*(\S+)(.*)$/i.exec(line) ?? [];
    if (name) {
      lines[at] = `FROM ${await found(name)}${rest}`;
      const stage = /\sAS\s+(\S+)/i.exec(rest)?.[1] ?? String(stages.size);
      stages.add(stage.toLowerCase());
    }
    const [, before, from, after] = /^(\s*COPY\s.*?--from=)(\S+)(.*)$/i.exec(line) ?? [];
    if (from && !/^\d+$/.test(from)) lines[at] = `${before}${await found(from)}${after}`;
  }
  return lines.filter((line) => !/^#\s*syntax\s*=\s*docker\/dockerfile/i.test(line)).join('\n');
}
