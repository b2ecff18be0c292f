import type { RepositorySpec, SpecsByVersion } from '../repository-spec.js';
import { javascriptSpecs } from './swe-bench-specs-javascript.js';
import { pythonSpecs } from './swe-bench-specs-python.js';
import { pinnedSpecs } from './swe-bench-specs-pinned.js';

/**
 * SWE-Bench's environments as data, by repository and version: interpreter, packages and commands of its harness
 * (swebench/harness/constants, MIT); for Multimodal's test split, versions and commands of its task repository
 * (swe-bench-multimodal-dockerfiles, without a licence: nothing else of it is here).
 */
const known: Record<string, SpecsByVersion> = {
  ...pythonSpecs,
  ...pinnedSpecs,
  ...javascriptSpecs,
};

export type SpecLookup = (repo: string, version: string) => RepositorySpec | undefined;

export const specOf: SpecLookup = (repo, version) => {
  const versions = Object.hasOwn(known, repo) ? known[repo] : undefined;
  return versions && Object.hasOwn(versions, version) ? versions[version] : undefined;
};

export const knownSpecs = (): [repo: string, version: string, spec: RepositorySpec][] =>
  Object.entries(known).flatMap(([repo, all]) =>
    Object.entries(all).map(([version, spec]): [string, string, RepositorySpec] => [
      repo,
      version,
      spec,
    ]),
  );
