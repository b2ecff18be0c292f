import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';

interface Schemas {
  kinds: { apiVersion: string; kind: string; path: string; schema: string }[];
  definitions: Record<string, unknown>;
}

const file = join(__dirname, 'fixtures/kubernetes-schemas.json');
const { kinds, definitions } = JSON.parse(readFileSync(file, 'utf8')) as Schemas;

// Strict about schemas, so that it ignores no keyword; the types of a number or a text are beside `anyOf`.
const ajv = new Ajv({ allErrors: true, strictTypes: false });
ajv.addVocabulary(['x-kubernetes-int-or-string']);
ajv.addSchema({ $id: 'kubernetes', definitions: closed(definitions) });

/**
 * What is wrong with an object by the schemas of Kubernetes, which are taken strictly: each field must be known. Throws
 * for a kind that `tools/kubernetes-schemas.ts` does not name.
 */
export function kubernetesFaults(object: object): string[] {
  const { apiVersion, kind } = object as { apiVersion?: string; kind?: string };
  return faultsBy(
    kinds.find((one) => one.apiVersion === apiVersion && one.kind === kind),
    `${kind} of ${apiVersion}`,
    object,
  );
}

/** Like `kubernetesFaults`, for an object that is sent to this path of an API server, which need not name its kind. */
export function postedFaults(path: string, object: object): string[] {
  const common = path.replace(/\/namespaces\/[^/]+/, '/namespaces/{namespace}');
  return faultsBy(
    kinds.find((one) => one.path === common),
    path,
    object,
  );
}

function faultsBy(kind: Schemas['kinds'][number] | undefined, name: string, object: object) {
  if (!kind)
    throw new Error(`There is no schema for ${name}: name it in tools/kubernetes-schemas.ts.`);
  const { apiVersion, kind: own } = { ...kind, ...object };
  const isOther = apiVersion !== kind.apiVersion || own !== kind.kind;
  const validate = ajv.getSchema(`kubernetes#/definitions/${kind.schema}`);
  if (!validate) throw new Error(`${kind.schema} is not in ${file}.`);
  const errors = validate(object) === true ? [] : (validate.errors ?? []);
  const faults = errors.map(({ instancePath, message, params }) =>
    [instancePath || '/', message, Object.values(params).join(', ')].join(' '),
  );
  if (isOther) faults.push(`/ is a ${own} of ${apiVersion}`);
  return faults;
}

/** With no fields but those that are described. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const own = Object.fromEntries(Object.entries(schema).map(([key, one]) => [key, closed(one)]));
  const isOpen = typeof own['properties'] !== 'object' || 'additionalProperties' in own;
  return isOpen ? own : { ...own, additionalProperties: false };
}
