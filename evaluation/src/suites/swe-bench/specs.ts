import { z } from 'zod';
import { assetTable } from '../../asset-table.js';
import type { RepositorySpec } from '../../repository-spec.js';
import { testCommands } from './test-commands.js';

const words = z.string().transform((text) => text.split(' '));
const lines = z.array(z.string());

const settings = z
  .object({
    python: z.string(),
    /** For a repository in JavaScript; `{version}` stands for the repository's version. */
    node: z.string(),
    needs: z.string(),
    packages: words,
    requirements: lines,
    prepare: lines,
    install: z.string(),
    before: lines,
    /** A command to which the test files are appended, or complete commands. */
    test: z.union([z.string(), lines]),
    /** A function that makes commands from the test files, instead of `test`. */
    commands: z.enum(Object.keys(testCommands) as (keyof typeof testCommands)[]),
  })
  .partial();

const repository = settings.extend({
  logParser: z.string(),
  evalType: z.enum(['pass_and_fail', 'fail_only']).optional(),
  environments: z.array(settings.extend({ versions: words })),
});

/**
 * SWE-Bench's environments as data, by repository and version: interpreter, packages and commands
 * of its harness (swebench/harness/constants, MIT). For Multimodal's test split, versions and
 * commands of its task repository (swe-bench-multimodal-dockerfiles), which has no licence: nothing
 * else was copied from it.
 */
const table = assetTable('swe-bench-specs.json', z.record(z.string(), repository));

export type SpecLookup = (repo: string, version: string) => RepositorySpec | undefined;

export const specOf: SpecLookup = (repo, version) => {
  const known = Object.hasOwn(table(), repo) ? table()[repo] : undefined;
  const own = known?.environments.find(({ versions }) => versions.includes(version));
  return known && own && specFrom({ ...known, ...own }, version);
};

export const knownSpecs = (): [repo: string, version: string, spec: RepositorySpec][] =>
  Object.entries(table()).flatMap(([repo, known]) =>
    known.environments.flatMap((own) =>
      own.versions.map((version): [string, string, RepositorySpec] => [
        repo,
        version,
        specFrom({ ...known, ...own }, version),
      ]),
    ),
  );

function specFrom(given: z.infer<typeof repository>, version: string): RepositorySpec {
  const { python, node = '', needs, packages, requirements, prepare, install } = given;
  const { before, test = [], commands, logParser, evalType } = given;
  const asGiven = typeof test === 'string' ? test : () => test;
  return {
    environment: python
      ? { python, needs, packages, requirements, prepare, install }
      : { node: node.replace('{version}', version), needs },
    before,
    test: commands ? testCommands[commands] : asGiven,
    logParser,
    evalType,
  };
}
