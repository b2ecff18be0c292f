import { z } from 'zod';
import {
  automationDefinition,
  triggerSchemas,
  type AutomationDefinition,
} from './automation-definition.js';
import { automationFaults } from './automation-rules.js';
import type { DefinitionFault } from './definition-fault.js';
import { pluralText } from '../format.js';
import { nearestName } from './nearest-name.js';

/** A definition from any value, or everything that is wrong with it, one sentence each. Never throws. */
export function checkedDefinition(
  value: unknown,
):
  | { definition: AutomationDefinition; faults: readonly [] }
  | { definition?: undefined; faults: readonly DefinitionFault[] } {
  const schema = schemaFor(value);
  if ('faults' in schema) return schema;
  const read = schema.safeParse(value);
  if (!read.success)
    return { faults: read.error.issues.flatMap((issue) => faultsOf(issue, { schema, value })) };
  const faults = automationFaults(read.data);
  return faults.length > 0 ? { faults } : { definition: read.data, faults: [] };
}

type DefinitionSchema = z.ZodType<AutomationDefinition>;

/** The schema with the one trigger that is meant, so that faults are about that one and not about five. */
function schemaFor(value: unknown): DefinitionSchema | { faults: DefinitionFault[] } {
  if (!isObject(value)) return { faults: [{ path: [], message: 'a definition is an object' }] };
  const { on } = value;
  const known = Object.keys(triggerSchemas) as (keyof typeof triggerSchemas)[];
  const is = isObject(on) ? known.find((key) => Object.hasOwn(on, key)) : undefined;
  if (is !== undefined) return definitionSchemas[is];
  if (!isObject(on))
    return {
      faults: [{ path: ['on'], message: on === undefined ? 'is missing' : 'is an object' }],
    };
  const near = Object.keys(on).flatMap((key) => nearestName(key, known) ?? []);
  const hint = near.length > 0 ? `; did you mean ${near[0]}?` : '';
  return { faults: [{ path: ['on'], message: `needs one of ${known.join(', ')}${hint}` }] };
}

const definitionSchemas = {
  host: automationDefinition.extend({ on: triggerSchemas.host }),
  schedule: automationDefinition.extend({ on: triggerSchemas.schedule }),
  url: automationDefinition.extend({ on: triggerSchemas.url }),
  session: automationDefinition.extend({ on: triggerSchemas.session }),
  hand: automationDefinition.extend({ on: triggerSchemas.hand }),
} satisfies Record<keyof typeof triggerSchemas, DefinitionSchema>;

interface Checked {
  schema: z.core.$ZodType;
  value: unknown;
}

type Path = readonly (string | number)[];

function faultsOf(
  issue: z.core.$ZodIssue,
  { schema, value }: Checked,
  above: Path = [],
): DefinitionFault[] {
  const path = [...above, ...issue.path.filter((key) => typeof key !== 'symbol')];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: unknownKey(key, keysAt(schema, path)),
      ofKey: true,
    }));
  if (issue.code === 'invalid_union') {
    // A list and one value are written differently: the branch that got furthest is the one that was meant.
    const branches = issue.errors.toSorted((a, b) => depthOf(b) - depthOf(a));
    return (branches[0] ?? []).flatMap((one) => faultsOf(one, { schema, value }, path));
  }
  return [{ path, message: sentenceOf(issue, valueOf(value, path)) }];
}

/** Faults inside of a value lie deeper than those of its type, and a wrong word says more than a wrong type. */
const depthOf = ([issue]: readonly z.core.$ZodIssue[]): number =>
  (issue?.path.length ?? 0) * 2 + (issue?.code === 'invalid_type' ? 0 : 1);

const unknownKey = (key: string, known: readonly string[]): string => {
  const near = nearestName(key, known);
  return near === undefined
    ? `is unknown; there are ${known.join(', ')}`
    : `is unknown; did you mean ${near}?`;
};

function sentenceOf(issue: z.core.$ZodIssue, given: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return given === undefined
        ? 'is missing'
        : `${shown(given)} is not ${typeNames[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return given === undefined
        ? 'is missing'
        : `${shown(given)} is not ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`;
    case 'too_big':
      return limitOf('at most', Number(issue.maximum), issue.origin);
    case 'too_small':
      return limitOf(
        issue.inclusive === false ? 'more than' : 'at least',
        Number(issue.minimum),
        issue.origin,
      );
    case 'invalid_format':
      return `${shown(given)} is not ${isNoun.test(issue.message) ? '' : 'valid: '}${issue.message}`;
    default:
      return issue.message;
  }
}

/** Messages that name a thing, `a name that …`, and not a sentence about it, `a name has …`. */
const isNoun = /^(?:an?|one|letters|the) (?!name has )/;

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

function limitOf(word: string, limit: number, origin: string): string {
  const units: Readonly<Record<string, string>> = { string: 'has ', array: 'has ' };
  const things: Readonly<Record<string, [one: string, many: string]>> = {
    string: ['character', 'characters'],
    array: ['entry', 'entries'],
  };
  if (origin === 'string' && word === 'at least' && limit === 1) return 'is empty';
  const thing = things[origin];
  return `${units[origin] ?? 'is '}${word} ${thing === undefined ? limit : pluralText(limit, ...thing)}`;
}

function shown(value: unknown): string {
  if (value === null) return 'an empty value';
  if (Array.isArray(value)) return 'a list';
  if (isObject(value)) return 'an object';
  return `“${(typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 60)}”`;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const valueOf = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, key)
        ? (at as Record<string | number, unknown>)[key]
        : undefined,
    value,
  );

/** The keys that an object of the schema may have. */
function keysAt(schema: z.core.$ZodType, path: Path): string[] {
  let at = unwrapped(schema);
  for (const key of path) {
    if (at instanceof z.ZodObject) at = unwrapped(at.shape[String(key)] as z.core.$ZodType);
    else if (at instanceof z.ZodArray) at = unwrapped(at.element);
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  let at = schema;
  while (
    at instanceof z.ZodOptional ||
    at instanceof z.ZodDefault ||
    at instanceof z.ZodPrefault ||
    at instanceof z.ZodNullable
  )
    at = at.unwrap();
  return at;
}
