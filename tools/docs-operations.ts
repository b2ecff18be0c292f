/** The parts of JSON Schema that this page shows. */
export interface JsonSchema {
  type?: string | string[];
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

export interface DocumentedOperation {
  name: string;
  title: string;
  description: string;
  risk: string;
  audience: readonly string[];
  input: JsonSchema;
  output: JsonSchema;
}

interface FieldRow {
  path: string;
  type: string;
  fallback: string;
  meaning: string;
}

const groups = {
  terminal: 'Terminal',
  files: 'Files',
  browser: 'Browser',
  web: 'Web',
  system: 'System',
  plan: 'Plan and dialogue',
  workspace: 'Workspace and history',
};

/** The page with all operations. */
export function operationsPage(operations: DocumentedOperation[]): string {
  const sections = Object.entries(groups).map(([group, title]) => {
    const members = operations.filter((operation) => groupOf(operation.name) === group);
    return `## ${title}\n\n${members.map(operationSection).join('\n\n')}`;
  });
  return `<!-- Made by “npm run docs” from libs/protocol/src/operations; edit the definitions. -->

# Operations

An operation is a typed request that an agent serves. Each is defined once, in
\`libs/protocol/src/operations\`: the call over the connection, the REST route, the model's tool and this page are
projections of that definition. _Risk_ is the worst effect that a call can have, and approvals depend on it; _for_ says
who can call it: the model, as a tool; a user, through the dashboard, the CLI or the API; or a viewer, who cannot change anything.

${sections.join('\n\n')}
`;
}

/** `ask`, `think` and `finish` have no group in their names; they are listed with the plan. */
function groupOf(name: string): string {
  const [group = ''] = name.split('.');
  return group in groups ? group : 'plan';
}

function operationSection(operation: DocumentedOperation): string {
  const { name, title, description, risk, audience, input, output } = operation;
  return `### \`${name}\`

${title}. Risk: **${risk}** · for: ${audience.join(', ')}

${description}

Input

${table(rows(input), { io: 'input' })}

Output

${table(rows(output), { io: 'output' })}`;
}

function table(fields: FieldRow[], { io }: { io: 'input' | 'output' }): string {
  if (fields.length === 0) return '_Nothing._';
  const usual = io === 'input';
  const head = usual ? ['Field', 'Type', 'Default', 'Meaning'] : ['Field', 'Type', 'Meaning'];
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const body = fields.map(({ path, type, fallback, meaning }) =>
    line([`\`${path}\``, type, ...(usual ? [fallback] : []), meaning].map(cell)),
  );
  return [line(head), line(head.map(() => '---')), ...body].join('\n');
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** One row for each field, followed by the fields of nested objects and lists with their paths. */
export function rows(schema: JsonSchema, prefix = ''): FieldRow[] {
  const properties = Object.entries(schema.properties ?? {});
  return properties.flatMap(([name, property]) => {
    const path = `${prefix}${name}`;
    const row = {
      path,
      type: typeOf(property),
      fallback: fallbackOf(property, (schema.required ?? []).includes(name)),
      meaning: property.description ?? '',
    };
    const { below, suffix } = nested(property);
    return [row, ...(below ? rows(below, `${path}${suffix}.`) : [])];
  });
}

function nested(property: JsonSchema): { below: JsonSchema | undefined; suffix: string } {
  if (property.items) {
    const inner = nested(property.items);
    return { below: inner.below, suffix: `[]${inner.suffix}` };
  }
  const object = [property, ...(property.anyOf ?? [])].find((choice) => choice.properties);
  return { below: object, suffix: '' };
}

function fallbackOf(property: JsonSchema, required: boolean): string {
  if (property.default !== undefined) return `\`${JSON.stringify(property.default)}\``;
  return required ? 'required' : '–';
}

function typeOf(property: JsonSchema): string {
  if (property.anyOf) return property.anyOf.map(typeOf).join(' or ');
  if (property.const !== undefined) return `\`${JSON.stringify(property.const)}\``;
  if (property.enum) return property.enum.map((value) => `\`${String(value)}\``).join(' ');
  if (property.type === 'array')
    return `list of ${property.items ? typeOf(property.items) : 'anything'}${listed(range(property.minItems, property.maxItems))}`;
  if (property.type === 'integer' || property.type === 'number')
    return `${property.type}${listed(numbers(property))}`;
  if (property.type === 'string')
    return `string${listed(range(property.minLength, property.maxLength, ' characters'))}`;
  return [property.type ?? 'anything'].flat().join(' or ');
}

const listed = (limit: string) => (limit ? `, ${limit}` : '');

function numbers({ minimum, exclusiveMinimum, maximum }: JsonSchema): string {
  if (exclusiveMinimum === undefined) return range(minimum, maximum);
  const most = range(undefined, maximum);
  return `above ${exclusiveMinimum}${listed(most)}`;
}

/** JavaScript’s largest integers are defaults, not limits of the schema. */
function range(least?: number, most?: number, unit = ''): string {
  const isLimit = (value?: number): value is number =>
    value !== undefined && Math.abs(value) !== Number.MAX_SAFE_INTEGER;
  if (!isLimit(most)) {
    if (!isLimit(least)) return '';
    return unit && least === 1 ? 'not empty' : `${least}${unit} or more`;
  }
  return isLimit(least) ? `${least}–${most}${unit}` : `at most ${most}${unit}`;
}
