import { z } from 'zod';
import { isFields } from './is-fields.js';
import type { Operation } from './operation.js';

/** A model’s input in the form that its operation expects. */
export interface LenientInput {
  input: unknown;
  /** Names of unknown fields, as the model wrote them. */
  ignored: string[];
}

/**
 * Reads the input of a call from models that were trained on other tools: with other names (`aliases` of operations),
 * other spellings of the same name, and numbers, lists and objects as text. A value that does not fit its field is
 * left unchanged, so that the schema refuses it.
 */
export function lenientInput(operation: Operation, input: unknown): LenientInput {
  const { input: schema, aliases } = operation;
  if (!(schema instanceof z.ZodObject) || !isFields(input)) return { input, ignored: [] };
  return fieldsIn(schema, input, aliases);
}

function fieldsIn(
  schema: z.ZodObject,
  input: Record<string, unknown>,
  aliases: Operation['aliases'] = {},
) {
  const shape: Record<string, z.core.$ZodType> = schema.shape;
  const fields = Object.keys(shape);
  const others = new Map([
    ...fields.map((field) => [plain(field), field] as const),
    ...Object.entries(aliases),
  ]);
  const given: Record<string, unknown> = {};
  const ignored: string[] = [];
  // A field’s own name takes precedence over its aliases.
  const isField = (name: string) => fields.includes(name);
  const names = Object.keys(input).sort((a, b) => Number(isField(b)) - Number(isField(a)));
  for (const name of names) {
    const known = isField(name) ? name : (others.get(plain(name)) ?? '');
    const type = isField(known) ? shape[known] : undefined;
    if (type === undefined || Object.hasOwn(given, known)) ignored.push(name);
    else {
      const read = fitting(type, input[name]);
      given[known] = read.input;
      ignored.push(...read.ignored.map((inner) => `${name}.${inner}`));
    }
  }
  return { input: given, ignored };
}

/** `filePath`, `file_path` and `file-path` are one name. */
const plain = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase();

function fitting(type: z.core.$ZodType, value: unknown): LenientInput {
  const { inner, optional, nullable } = unwrapped(type);
  if (value === null) return { input: optional && !nullable ? undefined : value, ignored: [] };
  if (!(inner instanceof z.ZodObject)) return { input: single(inner, value), ignored: [] };
  const object = typeof value === 'string' ? parsed(value, '{') : value;
  return isFields(object) ? fieldsIn(inner, object) : { input: value, ignored: [] };
}

function single(inner: z.core.$ZodType, value: unknown): unknown {
  const { def } = inner._zod;
  if (def.type === 'array') return listIn(inner, value);
  if (def.type === 'string') return typeof value === 'number' ? String(value) : value;
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (def.type === 'number') return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : value;
  if (def.type === 'boolean') return booleans.get(text.toLowerCase()) ?? value;
  if (inner instanceof z.ZodEnum) {
    const same = inner.options.find((each) => plain(String(each)) === plain(text));
    return same ?? value;
  }
  return value;
}

const booleans = new Map([
  ['true', true],
  ['false', false],
]);

/** A list that was written as JSON, or a single text instead of a list with one item. */
function listIn(type: z.core.$ZodType, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const list = parsed(value, '[');
  if (Array.isArray(list)) return list;
  const ofTexts = type instanceof z.ZodArray && type.element._zod.def.type === 'string';
  return ofTexts ? [value] : value;
}

/** The value of a text that is JSON and begins with this character; undefined for any other text. */
function parsed(text: string, begin: '[' | '{'): unknown {
  if (!text.trimStart().startsWith(begin)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The inner type of a field that is optional, nullable or has a default. */
function unwrapped(type: z.core.$ZodType): {
  inner: z.core.$ZodType;
  optional: boolean;
  nullable: boolean;
} {
  let inner = type;
  let [optional, nullable] = [false, false];
  for (;;) {
    if (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault) optional = true;
    else if (inner instanceof z.ZodNullable) nullable = true;
    else return { inner, optional, nullable };
    inner = inner.def.innerType;
  }
}
