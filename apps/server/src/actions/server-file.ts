import { actionManifest } from '@belay/protocol';
import { z } from 'zod';
import {
  assertServer,
  parsedBy,
  readJsonFile,
  unusableFile,
  type Declared,
  type ReadManifest,
} from './manifest.js';

const word = z.string().max(2_000);
const argument = z.object({
  type: z.enum(['positional', 'named']),
  name: word.optional(),
  value: word.optional(),
  default: word.optional(),
  isRequired: z.boolean().optional(),
});
const variable = z.object({
  name: z.string().max(100),
  value: word.optional(),
  default: word.optional(),
  isSecret: z.boolean().optional(),
  isRequired: z.boolean().optional(),
});
const npmPackage = z.object({
  registryType: z.string().max(100),
  identifier: z.string().max(200),
  version: z.string().max(100).optional(),
  transport: z.object({ type: z.string().max(100) }).optional(),
  packageArguments: z.array(argument).max(50).default([]),
  runtimeArguments: z.array(z.unknown()).max(50).default([]),
  environmentVariables: z.array(variable).max(50).default([]),
});
/**
 * Starts a globally installed package of npm by its own program, whatever its name. `npx` knows the programs only of
 * packages in a project’s folder, so it gets the folder of the global ones as that.
 */
const npmProgram = ['npx', '--no-install', '--prefix', '/usr/local/lib', '--'];

/** The fields of an MCP registry’s `server.json` that are used. */
const serverFile = z.object({
  name: z.string().min(1).max(200),
  title: z.string().max(100).optional(),
  description: z.string().min(1).max(2_000),
  packages: z.array(npmPackage).max(50).default([]),
});

/**
 * Reads an MCP registry’s `server.json` as the manifest of a server, with its first package from npm or PyPI that uses
 * standard input and output. Throws `invalid_input` with one sentence that names the field.
 */
export function readServerFile({ content, where }: Declared): ReadManifest {
  const server = parsedBy(serverFile, readJsonFile(content, where), where);
  const found = server.packages.find(
    ({ registryType, transport }) =>
      (registryType === 'npm' || registryType === 'pypi') &&
      (transport?.type ?? 'stdio') === 'stdio',
  );
  if (!found)
    throw unusableFile(where, 'packages: none is an npm or PyPI package with the transport stdio');
  const { registryType, identifier, version, packageArguments } = found;
  const isNpm = registryType === 'npm';
  const pinned = version === undefined ? '' : `${isNpm ? '@' : '=='}${version}`;
  const program = isNpm ? [...npmProgram, identifier] : [identifier];
  const given = found.environmentVariables.map(({ value, default: usual, ...variable }) => ({
    ...variable,
    value: variable.isSecret ? undefined : (value ?? usual),
  }));
  const unset = given.filter(({ value }) => !value);
  const optional = unset.filter(({ isRequired }) => !isRequired);
  const manifest = parsedBy(
    actionManifest,
    {
      kind: 'mcp',
      name_for_human: server.title ?? shortName(server.name),
      name_for_model: shortName(server.name),
      description_for_human: server.description,
      description_for_model: server.description,
      command: [...program, ...packageArguments.flatMap((one) => wordsOf(one, where))],
      packages: { [isNpm ? 'npm' : 'pip']: [identifier + pinned] },
      // Variables without a value are set like secrets.
      permissions: {
        secrets: unset.map(({ name }) => name),
        ...(optional.length > 0 && { optional_secrets: optional.map(({ name }) => name) }),
      },
      environment: Object.fromEntries(
        given.flatMap(({ name, value }) => (value ? [[name, value]] : [])),
      ),
    },
    where,
  );
  assertServer(manifest, where);
  return {
    manifest,
    warnings: [
      `${where} names no hosts, so the server has no network: for one that needs hosts, write a manifest.json with them.`,
      ...(found.runtimeArguments.length > 0
        ? [
            `${where} has runtimeArguments, which are not used: the package is started by its own program.`,
          ]
        : []),
    ],
  };
}

/** The part of a name like `io.github.user/weather-mcp` that is valid as one of ours. */
const shortName = (name: string): string =>
  (name.split('/').at(-1) ?? '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 24)
    .replaceAll(/^-+|-+$/g, '');

function wordsOf(
  { type, name, value, default: usual, isRequired }: z.output<typeof argument>,
  where: string,
) {
  const text = value ?? usual;
  if (text === undefined && isRequired)
    throw unusableFile(where, `packageArguments: ${name ?? 'one that is required'} has no value`);
  if (type === 'positional') return text === undefined ? [] : [text];
  if (name === undefined || text === undefined) return [];
  return [name, text];
}
