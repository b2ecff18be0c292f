import { operationsPage, rows } from './docs-operations.ts';

describe('the fields of a schema', () => {
  it('are named by their path, with type, limits and default', () => {
    const schema = {
      required: ['path'],
      properties: {
        path: { type: 'string', minLength: 1, description: 'Where.' },
        depth: { type: 'integer', exclusiveMinimum: 0, maximum: 20, default: 3 },
        size: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
        found: {
          type: 'array',
          items: {
            type: 'object',
            properties: { line: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
          },
        },
      },
    };
    const shown = rows(schema).map(({ path, type, fallback }) => [path, type, fallback]);
    expect(shown).toEqual([
      ['path', 'string, not empty', 'required'],
      ['depth', 'integer, above 0, at most 20', '`3`'],
      ['size', 'integer, 0 or more', '–'],
      ['found', 'list of object', '–'],
      ['found[].line', 'integer or null', '–'],
    ]);
  });
});

it('puts every operation under its group, even one without a group in its name', () => {
  const operation = (name: string) => ({
    name,
    title: 'T',
    description: 'D',
    risk: 'read',
    audience: ['model'],
    input: { properties: { text: { type: 'string', description: 'a | b' } } },
    output: {},
  });
  const page = operationsPage(['think', 'files.read'].map(operation));
  expect(page).toMatch(/## Files\n\n### `files\.read`/);
  expect(page).toMatch(/## Plan and dialogue\n\n### `think`/);
  expect(page).toContain('a \\| b');
  expect(page).toContain('Output\n\n_Nothing._');
});
