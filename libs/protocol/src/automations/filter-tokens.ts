import { AppError } from '../errors.js';

/** A word of a condition; `at` counts characters from 0. */
export interface FilterToken {
  readonly kind: 'name' | 'literal' | 'operator' | 'end';
  readonly at: number;
  readonly text: string;
  /** Of a literal. */
  readonly value?: string | number | boolean;
}

const words = new Set(['in', 'startsWith', 'endsWith', 'contains', 'glob']);

/** Each alternative takes linear time: none begins like another, and none repeats a repetition. */
const token =
  /(?<space>\s+)|(?<name>[A-Za-z_][\w-]*(?:\.[\w-]+)*)|(?<number>-?\d+(?:\.\d+)?)(?![\w.])|'(?<single>(?:[^'\\]|\\.)*)'|"(?<double>(?:[^"\\]|\\.)*)"|(?<operator>==|!=|<=|>=|&&|\|\||[<>!()[\],])/suy;

/** The words of a condition, with its end as the last. Throws `invalid_input` with the position. */
export function filterTokens(text: string): FilterToken[] {
  const tokens: FilterToken[] = [];
  let at = 0;
  while (at < text.length) {
    token.lastIndex = at;
    const found = token.exec(text);
    if (!found) throw unreadable(text, at);
    if (found.groups?.['space'] === undefined) tokens.push(tokenOf(found, at));
    at += found[0].length;
  }
  return [...tokens, { kind: 'end', at, text: '' }];
}

function tokenOf({ 0: text, groups = {} }: RegExpExecArray, at: number): FilterToken {
  const quoted = groups['single'] ?? groups['double'];
  if (quoted !== undefined)
    return { kind: 'literal', at, text, value: quoted.replace(/\\(.)/gsu, '$1') };
  if (groups['number'] !== undefined) return { kind: 'literal', at, text, value: Number(text) };
  if (text === 'true' || text === 'false')
    return { kind: 'literal', at, text, value: text === 'true' };
  const isName = groups['name'] !== undefined && !words.has(text);
  return { kind: isName ? 'name' : 'operator', at, text };
}

function unreadable(text: string, at: number): AppError {
  const [character = ''] = text.slice(at, at + 2);
  const reasons: Readonly<Record<string, string>> = {
    "'": 'the quote is not closed',
    '"': 'the quote is not closed',
    '=': 'write == to compare',
    '&': 'write && for “and”',
    '|': 'write || for “or”',
  };
  const reason = reasons[character] ?? `“${character}” has no meaning here`;
  return filterFault(at, reason);
}

/** The error at a position that counts from 0. */
export const filterFault = (at: number, reason: string): AppError =>
  new AppError('invalid_input', `character ${at + 1}: ${reason}`, { position: at + 1 });
