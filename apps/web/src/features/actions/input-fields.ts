import { ownValue, type ActionManifest } from '@belay/protocol';

/** A field for one parameter of an action. */
export interface InputField {
  name: string;
  /** `json` for values of any other kind, `lines` for a list of texts. */
  kind: 'text' | 'number' | 'boolean' | 'choice' | 'lines' | 'json';
  options: readonly string[];
  required: boolean;
  hint: string;
}

const positionals = {
  properties: {
    args: {
      type: 'array',
      items: { type: 'string' },
      description: 'Its arguments, one per line.',
    },
  },
};

/** The parameters of an action as fields, from the JSON Schema in its manifest. */
export function inputFields({ parameters }: Pick<ActionManifest, 'parameters'>): InputField[] {
  const schema = recordOf(parameters ?? positionals);
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(recordOf(schema['properties'])).map(([name, value]) => {
    const property = recordOf(value);
    const options = Array.isArray(property['enum']) ? property['enum'] : [];
    const texts = options.filter((option) => typeof option === 'string');
    const { description } = property;
    return {
      name,
      kind: texts.length > 0 && texts.length === options.length ? 'choice' : kindOf(property),
      options: texts,
      required: required.includes(name),
      hint: typeof description === 'string' ? description : '',
    };
  });
}

/** The input of a call; fields without a value are left out. Throws a sentence for invalid JSON. */
export function callInput(
  fields: readonly InputField[],
  values: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const entries = fields.flatMap((field) => {
    const text = ownValue(values, field.name) ?? '';
    return text.trim() === '' ? [] : [[field.name, valueOf(field, text)] as const];
  });
  return Object.fromEntries(entries);
}

function valueOf({ name, kind }: InputField, text: string): unknown {
  if (kind === 'number') return Number(text);
  if (kind === 'boolean') return text === 'true';
  if (kind === 'lines') return text.split('\n').filter(Boolean);
  if (kind !== 'json') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error(`${name} is not JSON. Write a value such as ["a", "b"] or {"key": 1}.`);
  }
}

function kindOf({ type, items }: Record<string, unknown>): InputField['kind'] {
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'boolean') return 'boolean';
  return type === 'array' && recordOf(items)['type'] === 'string' ? 'lines' : 'json';
}

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
