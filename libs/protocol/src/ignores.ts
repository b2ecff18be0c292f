/** Installed packages and caches, which are left out even if no .gitignore names them. */
export const usuallyIgnored = [
  'node_modules',
  '__pycache__',
  '.venv',
  '.tox',
  '.mypy_cache',
  '.pytest_cache',
  '.gradle',
  '.terraform',
];

interface Rule {
  /** The folder of the .gitignore, with a slash at its end; empty for the workspace. */
  base: string;
  pattern: RegExp;
  negated: boolean;
  foldersOnly: boolean;
}

/** The rules of the .gitignore files from the workspace down to a folder; the last match decides. */
export class Ignores {
  readonly #rules: readonly Rule[];
  private constructor(rules: readonly Rule[]) {
    this.#rules = rules;
  }

  static readonly none = new Ignores([]);
  static readonly usual = Ignores.none.with(
    usuallyIgnored.map((name) => `${name}/`).join('\n'),
    '',
  );

  with(text: string, folder: string): Ignores {
    const base = folder === '' || folder === '.' ? '' : `${folder}/`;
    const rules = text.split('\n').flatMap((line) => parse(line.replace(/\r$/, ''), base) ?? []);
    return rules.length === 0 ? this : new Ignores([...this.#rules, ...rules]);
  }

  /** Whether a path is ignored, provided that its parents are not. */
  has(path: string, folder: boolean): boolean {
    for (const rule of this.#rules.toReversed()) {
      if (rule.foldersOnly && !folder) continue;
      if (path.startsWith(rule.base) && rule.pattern.test(path.slice(rule.base.length))) {
        return !rule.negated;
      }
    }
    return false;
  }
}

function parse(line: string, base: string): Rule | null {
  let text = line.replace(/(?<!\\) +$/, '');
  if (text === '' || text.startsWith('#')) return null;
  const negated = text.startsWith('!');
  if (negated) text = text.slice(1);
  const foldersOnly = text.endsWith('/');
  if (foldersOnly) text = text.slice(0, -1);
  const anchored = text.includes('/');
  try {
    return { base, pattern: globPattern(text.replace(/^\//, ''), anchored), negated, foldersOnly };
  } catch {
    return null; // A pattern that is not a pattern matches nothing, as in git.
  }
}

/**
 * Converts a gitignore glob to a regular expression over a whole path; a glob that is not anchored matches at any
 * depth.
 */
export function globPattern(glob: string, anchored: boolean): RegExp {
  const body = glob.replace(
    /\\(.)|\[(!|\^)?((?:\\.|[^\]\\])+)\]|\*\*\/|\/\*\*$|\*+|\?|[.+^${}()|/]/g,
    (token, escaped?: string, not?: string, set?: string) => {
      if (escaped) return escapeExpression(escaped);
      if (set) return `[${not ? '^' : ''}${set.replace(/\^/g, '\\^')}]`;
      if (token === '**/') return '(?:.*/)?';
      if (token === '/**') return '/.*';
      if (token.startsWith('*')) return '[^/]*';
      if (token === '?') return '[^/]';
      return `\\${token}`;
    },
  );
  return new RegExp(`^${anchored ? '' : '(?:.*/)?'}${body}$`, 's');
}

export const escapeExpression = (text: string): string =>
  text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
