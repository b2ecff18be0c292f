import { matchWildcards } from './match-wildcards.js';

/** Matches one character. */
type Fits = (character: string) => boolean;
/** One name of a path: any names, exactly this one, or one with these characters. */
type Segment = '**' | { name: string } | { characters: readonly ('*' | Fits)[] };

const token = /\\(?<escaped>.)|\[(?<not>[!^])?(?<set>\]?(?:\\.|[^\]\\])*)\]|\*+|./gsu;

/**
 * Compiles a gitignore glob to a function that tests a path; a glob that is not anchored matches at any depth. A glob
 * that is not one matches nothing, as in git. The time of a test is at most the product of both lengths, whoever wrote
 * the glob.
 */
export function globMatcher(
  glob: string,
  { anchored }: { anchored: boolean },
): (path: string) => boolean {
  const segments = segmentsOf(glob);
  if (!segments) return () => false;
  const [only] = segments;
  if (!anchored && only && segments.length === 1)
    return (path) => fitsSegment(only, path.slice(path.lastIndexOf('/') + 1));
  const pattern: readonly Segment[] = anchored ? segments : ['**', ...segments];
  return (path) =>
    matchWildcards(pattern, path.split('/'), { isWildcard: isAnyNames, fits: fitsSegment });
}

const isAnyNames = (segment: Segment): boolean => segment === '**';

function fitsSegment(segment: Segment, name: string): boolean {
  if (segment === '**') return true;
  if ('name' in segment) return segment.name === name;
  return matchWildcards(segment.characters, Array.from(name), {
    isWildcard: (entry) => entry === '*',
    fits: (entry, character) => entry === '*' || entry(character),
  });
}

/** Undefined for a glob with an open bracket, or with a backslash at its end. */
function segmentsOf(glob: string): Segment[] | undefined {
  const segments: Segment[] = [];
  let tokens: RegExpExecArray[] = [];
  for (const found of glob.matchAll(token)) {
    if (found[0] === '[' || found[0] === '\\' || found.groups?.['set'] === '') return undefined;
    if ((found.groups?.['escaped'] ?? found[0]) !== '/') {
      tokens.push(found);
      continue;
    }
    const segment = segmentOf(tokens);
    // Several in a row mean the same as one.
    if (segment !== '**' || segments.at(-1) !== '**') segments.push(segment);
    tokens = [];
  }
  const last = segmentOf(tokens);
  // At the end, they stand for everything inside a folder, and not for the folder.
  return [...segments, ...(last === '**' ? [last, { characters: ['*'] } as const] : [last])];
}

function segmentOf(tokens: readonly RegExpExecArray[]): Segment {
  if (tokens.length === 1 && tokens[0]?.[0] === '**') return '**';
  if (tokens.every(isLiteral))
    return { name: tokens.map(({ 0: text, groups }) => groups?.['escaped'] ?? text).join('') };
  return { characters: tokens.map(charactersOf) };
}

const isLiteral = ({ 0: text, groups }: RegExpExecArray): boolean =>
  groups?.['escaped'] !== undefined || !/^[*?[]/.test(text);

function charactersOf({ 0: text, groups }: RegExpExecArray): '*' | Fits {
  const [escaped, set, not] = ['escaped', 'set', 'not'].map((name) => groups?.[name]);
  if (set !== undefined) {
    const isIn = setOf(set);
    return (character) => isIn(character) === (not === undefined);
  }
  if (escaped === undefined && text.startsWith('*')) return '*';
  if (text === '?') return () => true;
  return (character) => character === (escaped ?? text);
}

/** The characters and ranges between brackets. */
function setOf(text: string): Fits {
  const ranges = [...text.matchAll(/(\\?.)(?:-(\\?.))?/gsu)].map(([, from = '', to = from]) => ({
    from: unescaped(from),
    to: unescaped(to),
  }));
  return (character) => ranges.some(({ from, to }) => from <= character && character <= to);
}

const unescaped = (text: string): string => text.replace(/^\\(?=.)/su, '');
