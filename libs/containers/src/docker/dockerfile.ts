/** The parts of a Dockerfile instruction that a build without a registry needs. */
interface Instruction {
  /** The index of its first line. */
  at: number;
  /** All its lines, without the here-documents that follow. */
  text: string;
  heredoc: boolean;
}

/** Skips continued lines and here-documents, which may look like instructions. */
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

/** The feature that only BuildKit can build; null if the classic builder can build the file. */
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
 * The Dockerfile with names of local images in `FROM` and `COPY --from`. Removes the line `#
 * syntax=`, which names an image in a registry; the engine's own parser is used instead. `args` are
 * those of the build.
 */
export async function withLocalImages(
  text: string,
  local: (name: string) => Promise<string>,
  args: Record<string, string> = {},
): Promise<string> {
  const lines = text.split('\n');
  const stages = new Set<string>();
  const values = new Map<string, string>();
  const filled = (name: string) =>
    name.replace(/\$\{?(\w+)\}?/g, (all, key: string) => args[key] ?? values.get(key) ?? all);
  const noteDefault = (line: string) => {
    const [, key, value] = /^\s*ARG\s+(\w+)=["']?([^\s"']*)/i.exec(line) ?? [];
    if (key && value && stages.size === 0) values.set(key, value);
  };
  const found = async (name: string) => {
    const whole = filled(name);
    return stages.has(name.toLowerCase()) || whole.includes('$') || whole === 'scratch'
      ? name
      : local(whole);
  };
  for (const { at } of instructionsOf(lines)) {
    const line = lines[at] ?? '';
    noteDefault(line);
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
