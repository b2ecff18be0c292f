import { AppError } from '../errors.js';
import { noField, valueAt, type FilterFields, type FilterValues } from './filter.js';

/** Fields that every lane key and branch template may use, besides those of the event. */
const everywhere: ReadonlySet<string> = new Set(['subject']);
const field = /\{([^{}]*)\}/g;
/** Longer values become a hash, so that a key stays short and two long values stay apart. */
const maxValue = 60;
const maxKey = 200;

/**
 * Throws `invalid_input` with one sentence for a template that names a field which the event does not have. `more` are
 * fields of this template alone, such as `salt`.
 */
export function assertLaneKey(
  template: string,
  fields: FilterFields,
  { event = 'the event', more = [] }: { event?: string; more?: readonly string[] } = {},
): void {
  const rest = template.replace(field, '');
  if (/[{}]/.test(rest))
    throw new AppError('invalid_input', 'a brace is not closed: fields are written as {number}');
  for (const [, name = ''] of template.matchAll(field)) {
    if (everywhere.has(name) || more.includes(name)) continue;
    if (fields === null && name !== '') continue;
    const known = {
      ...fields,
      ...Object.fromEntries([...everywhere, ...more].map((one) => [one, 'text' as const])),
    };
    if (!Object.hasOwn(known, name))
      throw new AppError('invalid_input', noField(event, name || '{}', known));
    if (known[name] === 'list')
      throw new AppError('invalid_input', `${name} is a list, which has no place in a key`);
  }
}

/** The key with the values of the fields, at most 200 characters: those that are missing become `-`. */
export const laneKeyOf = (template: string, values: FilterValues): string =>
  shortened(
    template.replace(field, (_, name: string) => textOf(valueAt(values, name))),
    maxKey,
  );

function textOf(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? shortened(value, maxValue) : '-';
}

const shortened = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 14)}~${hashOf(text)}` : text;

/** The hash FNV-1a with 64 bits, which anyone can compute: two values that are made alike only wait for each other. */
function hashOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const character of text)
    hash = BigInt.asUintN(64, (hash ^ BigInt(character.codePointAt(0) ?? 0)) * 0x100000001b3n);
  return hash.toString(36);
}
