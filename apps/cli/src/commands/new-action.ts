import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { actionName, api, AppError } from '@belay/protocol';
import { localServer } from '../connection.js';
import { outputTo } from '../output.js';

export const actionLanguages = ['shell', 'node', 'python', 'deno'] as const;
type Language = (typeof actionLanguages)[number];

/** `belay actions new`: creates a folder with a working action. */
export function newAction(folder: string, { language }: { language: Language }): void {
  const path = resolve(folder);
  const { data: name, error } = actionName.safeParse(basename(path));
  if (error)
    throw new AppError(
      'invalid_input',
      `${basename(path)} cannot be the name of an action: use ${error.issues[0]?.message}.`,
    );
  if (existsSync(path)) throw new AppError('conflict', `${folder} already exists.`);
  mkdirSync(path, { recursive: true });
  const files = {
    'manifest.json': `${JSON.stringify(manifest(name, language), null, 2)}\n`,
    run: programs[language],
    'README.md': `# ${name}\n\nGreets somebody.\n`,
  };
  for (const [file, content] of Object.entries(files)) writeFileSync(join(path, file), content);
  chmodSync(join(path, 'run'), 0o755);
  const output = outputTo(process.stdout);
  output.line(`Created ${folder} with manifest.json and run. Next:`);
  output.line(`  belay actions install ${folder.includes('/') ? folder : `./${folder}`}`);
  output.line(`  belay actions test ${name}`);
}

/** The manifest schema on the current server, for editors. */
function schemaUrl(): string {
  const { url = 'http://127.0.0.1:4600' } = localServer({}) ?? {};
  return `${(process.env.BELAY_URL ?? url).replace(/\/$/, '')}${api.actions.schema.path}`;
}

const manifest = (name: string, language: Language) => ({
  $schema: schemaUrl(),
  schema_version: 'v1',
  name_for_human: name.charAt(0).toUpperCase() + name.slice(1).replaceAll(/[-_]/g, ' '),
  name_for_model: name,
  description_for_human: 'Greets somebody.',
  description_for_model: 'Returns a greeting for a name.',
  parameters: {
    type: 'object',
    properties: { name: { type: 'string', description: 'Who is greeted.' } },
    required: ['name'],
    additionalProperties: false,
  },
  // The sandbox image contains the others.
  ...(language === 'deno' && { packages: { npm: ['deno'] } }),
  examples: [{ title: 'Greets Ada', input: { name: 'Ada' }, contains: 'Hello, Ada!' }],
});

const programs: Record<Language, string> = {
  shell: `#!/bin/sh
# Arguments are key=value; the whole input is JSON on standard input.
for argument in "$@"; do
  case "$argument" in
    name=*) name=\${argument#name=} ;;
  esac
done
echo "Hello, $name!"
`,
  node: `#!/usr/bin/env node
// The whole input is JSON on standard input.
let text = '';
for await (const chunk of process.stdin) text += chunk;
const { name } = JSON.parse(text);
console.log(\`Hello, \${name}!\`);
`,
  python: `#!/usr/bin/env python3
# The whole input is JSON on standard input.
import json
import sys

name = json.load(sys.stdin)["name"]
print(f"Hello, {name}!")
`,
  deno: `#!/usr/bin/env -S deno run --quiet
// The whole input is JSON on standard input.
const { name } = await new Response(Deno.stdin.readable).json();
console.log(\`Hello, \${name}!\`);
`,
};
