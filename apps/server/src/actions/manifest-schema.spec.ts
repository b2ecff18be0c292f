import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { manifestSchema } from '@belay/protocol';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv-provider.js';
import { shout } from './testing/action-files.js';

const root = join(__dirname, '../../../..');
const examples = join(root, 'examples/actions');
const published = join(root, 'docs/action-manifest.schema.json');

describe('the schema of manifests', () => {
  const validate = new AjvJsonSchemaValidator().getValidator(manifestSchema());

  it.each(readdirSync(examples))('is that of the example %s, which names it', (name) => {
    const path = join(examples, name, 'manifest.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as { $schema: string };
    expect(validate(manifest)).toMatchObject({ valid: true });
    expect(resolve(examples, name, manifest.$schema)).toBe(published);
  });

  it('refuses what an install refuses', () => {
    expect(validate(shout()).valid).toBe(true);
    for (const wrong of [
      { name_for_model: 'Has Spaces' },
      { permissions: { network: ['*'] } },
      { permissions: { memory_mb: 1 } },
      { kind: 'skill' },
      { services: { db: {} } },
    ])
      expect(validate(shout(wrong)).valid).toBe(false);
  });
});
