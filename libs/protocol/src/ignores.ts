import { globMatcher } from './glob-matcher.js';

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
  matches: (path: string) => boolean;
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
      if (path.startsWith(rule.base) && rule.matches(path.slice(rule.base.length))) {
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
  const matches = globMatcher(text.replace(/^\//, ''), { anchored });
  return { base, matches, negated, foldersOnly };
}
