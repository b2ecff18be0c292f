import { globMatcher } from '../glob-matcher.js';
import type { FieldType } from './automation-events.js';
import { filterFault as fault, filterTokens, type FilterToken } from './filter-tokens.js';

/** The fields of an event by name; null for a JSON object, whose fields are not known. */
export type FilterFields = Readonly<Record<string, FieldType>> | null;

/** Values by field. Those of a JSON object are objects and lists, in which a dotted name is a path. */
export type FilterValues = Readonly<Record<string, unknown>>;

/** A condition that was checked, made by `parseFilter`. */
export interface CheckedFilter {
  readonly text: string;
  readonly holds: (values: FilterValues) => boolean;
}

export const maxFilterLength = 500;
export const maxFilterDepth = 16;
/** Longer texts match no glob: its time is the product of both lengths. */
const maxGlobText = 4_096;

/**
 * Reads a condition: `== != < <= > >= in startsWith endsWith contains glob && || ! ( )`, fields, lists, and literals of
 * text, numbers, `true` and `false`. Throws only `invalid_input`, with one sentence and the position (from 1) in its
 * details. Takes linear time. `event` is what messages call the owner of the fields.
 */
export function parseFilter(
  text: string,
  fields: FilterFields,
  event = 'the event',
): CheckedFilter {
  if (text.length > maxFilterLength)
    throw fault(maxFilterLength, `a condition has at most ${maxFilterLength} characters`);
  const parser = new FilterParser(filterTokens(text), fields, event);
  return { text, holds: parser.whole() };
}

/** Whether a condition holds. A comparison with a missing value is false, also `!=`. */
export const matchesFilter = ({ holds }: CheckedFilter, values: FilterValues): boolean =>
  holds(values);

type Of = (values: FilterValues) => unknown;
/** What a part of a condition is; `any` is a field of a JSON object. */
type Kind = FieldType | 'any' | 'condition';
interface Part {
  readonly at: number;
  readonly kind: Kind;
  /** As messages name it. */
  readonly name: string;
  readonly of: Of;
  /** Of a literal. */
  readonly literal?: string | number | boolean;
  /** Of a list: what it has. */
  readonly items?: 'text' | 'number';
}

type Compare = (left: unknown, right: unknown) => boolean;
const numbers =
  (compare: (left: number, right: number) => boolean): Compare =>
  (left, right) =>
    typeof left === 'number' && typeof right === 'number' && compare(left, right);
const texts =
  (compare: (left: string, right: string) => boolean): Compare =>
  (left, right) =>
    typeof left === 'string' && typeof right === 'string' && compare(left, right);
const inList: Compare = (item, list) => Array.isArray(list) && list.includes(item);

const comparisons: ReadonlyMap<string, Compare> = new Map<string, Compare>([
  ['==', (left, right) => left === right],
  ['!=', (left, right) => left !== right],
  ['<', numbers((left, right) => left < right)],
  ['<=', numbers((left, right) => left <= right)],
  ['>', numbers((left, right) => left > right)],
  ['>=', numbers((left, right) => left >= right)],
  ['in', inList],
  ['startsWith', texts((left, right) => left.startsWith(right))],
  ['endsWith', texts((left, right) => left.endsWith(right))],
  [
    'contains',
    (left, right) =>
      inList(right, left) || texts((whole, part) => whole.includes(part))(left, right),
  ],
  // Compiled for the pattern by `#compare`.
  ['glob', () => false],
]);

const powerOf = ({ kind, text }: FilterToken): number => {
  if (kind !== 'operator') return 0;
  if (text === '||') return 1;
  if (text === '&&') return 2;
  return comparisons.has(text) ? 3 : 0;
};

/** By precedence (Pratt 1973): each operator binds what follows as strongly as its power says. */
class FilterParser {
  #next = 0;
  #depth = 0;

  constructor(
    private readonly tokens: readonly FilterToken[],
    private readonly fields: FilterFields,
    private readonly event: string,
  ) {}

  whole(): (values: FilterValues) => boolean {
    const holds = conditionOf(this.#part(0));
    const { kind, at, text } = this.#peek();
    if (kind !== 'end')
      throw fault(at, `“${text}” is not expected here: join conditions by && or ||`);
    return holds;
  }

  #peek(): FilterToken {
    return this.tokens[this.#next] ?? { kind: 'end', at: 0, text: '' };
  }

  #take(): FilterToken {
    const token = this.#peek();
    this.#next += 1;
    return token;
  }

  #part(power: number): Part {
    this.#depth += 1;
    if (this.#depth > maxFilterDepth)
      throw fault(this.#peek().at, `it is nested deeper than ${maxFilterDepth} levels`);
    let left = this.#prefix();
    for (;;) {
      const operator = this.#peek();
      const own = powerOf(operator);
      if (own <= power) break;
      this.#take();
      left = joined(operator, left, this.#part(own));
    }
    this.#depth -= 1;
    return left;
  }

  #prefix(): Part {
    const token = this.#take();
    const { at, text } = token;
    if (token.kind === 'name') return this.#field(token);
    if (token.kind === 'literal') return literalPart(token);
    if (text === '!') {
      const holds = conditionOf(this.#part(3));
      return { at, kind: 'condition', name: 'a condition', of: (values) => !holds(values) };
    }
    if (text === '(') {
      const holds = conditionOf(this.#part(0));
      this.#expect(')');
      return { at, kind: 'condition', name: 'a condition', of: holds };
    }
    if (text === '[') return this.#list(at);
    const found = token.kind === 'end' ? 'it ends' : `“${text}” stands`;
    throw fault(at, `${found} where a field or a value is expected`);
  }

  #expect(wanted: string): void {
    const { at, text } = this.#take();
    if (text !== wanted) throw fault(at, `“${wanted}” is missing`);
  }

  #list(at: number): Part {
    const items: Part[] = [];
    while (this.#peek().text !== ']' || this.#peek().kind !== 'operator') {
      if (items.length > 0) this.#expect(',');
      const token = this.#take();
      if (token.kind !== 'literal' || typeof token.value === 'boolean')
        throw fault(token.at, 'a list has texts in quotes, or numbers');
      items.push(literalPart(token));
    }
    this.#take();
    const kind = items[0]?.kind;
    if (kind !== 'text' && kind !== 'number') throw fault(at, 'a list has at least one value');
    const other = items.find((item) => item.kind !== kind);
    if (other) throw fault(other.at, 'a list has either texts or numbers');
    const values = items.map(({ literal }) => literal);
    return { at, kind: 'list', items: kind, name: 'a list', of: () => values };
  }

  #field({ at, text }: FilterToken): Part {
    if (this.fields === null)
      return { at, kind: 'any', name: text, of: (all) => valueAt(all, text) };
    const kind = Object.hasOwn(this.fields, text) ? this.fields[text] : undefined;
    if (kind === undefined) throw fault(at, noField(this.event, text, this.fields));
    const items = kind === 'list' ? { items: 'text' as const } : {};
    return { at, kind, ...items, name: text, of: (all) => valueAt(all, text) };
  }
}

/** One sentence that names the fields there are. */
export function noField(event: string, name: string, fields: NonNullable<FilterFields>): string {
  const known = Object.keys(fields).toSorted();
  return `${event} has no field ${name.slice(0, 60)}; it has ${known.join(', ') || 'none'}`;
}

function literalPart({ at, text, value }: FilterToken): Part {
  const kinds = { string: 'text', number: 'number', boolean: 'flag' } as const;
  const literal = value ?? text;
  return {
    at,
    kind: kinds[typeof literal as keyof typeof kinds],
    name: text,
    literal,
    of: () => literal,
  };
}

function joined(operator: FilterToken, left: Part, right: Part): Part {
  const { at, text } = operator;
  const part = (of: Of): Part => ({ at: left.at, kind: 'condition', name: 'a condition', of });
  if (text === '&&' || text === '||') {
    const [first, second] = [conditionOf(left), conditionOf(right)];
    return part(
      text === '&&'
        ? (values) => first(values) && second(values)
        : (values) => first(values) || second(values),
    );
  }
  const problem = mismatch(text, left, right);
  if (problem !== undefined) throw fault(at, problem);
  const compare = text === 'glob' ? globOf(String(right.literal)) : comparisons.get(text);
  return part((values) => {
    const [one, other] = [left.of(values), right.of(values)];
    return isThere(one) && isThere(other) && compare?.(one, other) === true;
  });
}

const isThere = (value: unknown): boolean => value !== undefined && value !== null;

function globOf(pattern: string): Compare {
  const matches = globMatcher(pattern, { anchored: true });
  return texts((text) => text.length <= maxGlobText && matches(text));
}

const called = (kind: Kind): string =>
  ({
    text: 'text',
    number: 'a number',
    flag: 'true or false',
    list: 'a list',
    any: 'a value',
    condition: 'a condition',
  })[kind];

/** Why an operator cannot be between two parts. */
function mismatch(operator: string, left: Part, right: Part): string | undefined {
  if (left.kind === 'condition' || right.kind === 'condition')
    return `${operator} compares fields and values, not conditions`;
  if (operator === '==' || operator === '!=') return mismatchOfEqual(operator, left, right);
  if (operator === 'in')
    return (
      misfit(operator, right, 'list') ??
      misfit(operator, left, ...(right.items ? [right.items] : bare))
    );
  if (operator === 'contains')
    return (
      misfit(operator, left, 'text', 'list') ??
      misfit(operator, right, ...(left.kind === 'any' ? bare : ['text' as const]))
    );
  if (operator === 'glob' && typeof right.literal !== 'string')
    return 'glob needs a pattern in quotes';
  const kind = /^[<>]/.test(operator) ? 'number' : 'text';
  return misfit(operator, left, kind) ?? misfit(operator, right, kind);
}

const bare: readonly Kind[] = ['text', 'number'];

function mismatchOfEqual(operator: string, left: Part, right: Part): string | undefined {
  if (left.kind === 'list' || right.kind === 'list')
    return `a list is not compared by ${operator}: use in or contains`;
  return left.kind === 'any' ? undefined : misfit(operator, right, left.kind);
}

const misfit = (operator: string, { kind, name }: Part, ...fit: readonly Kind[]) =>
  kind === 'any' || fit.includes(kind)
    ? undefined
    : `${operator} needs ${fit.map(called).join(' or ')} here, and ${name} is ${called(kind)}`;

/** A part as a condition: one already, or a flag by itself. */
function conditionOf({ at, kind, name, of }: Part): (values: FilterValues) => boolean {
  if (kind === 'condition' || kind === 'flag' || kind === 'any')
    return (values) => of(values) === true;
  throw fault(at, `${name} is ${called(kind)}: compare it with something`);
}

/** The value of a field, or at the path of a dotted name. Only what an object has itself counts. */
export function valueAt(values: FilterValues, name: string): unknown {
  if (Object.hasOwn(values, name)) return values[name];
  let found: unknown = values;
  for (const key of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}
