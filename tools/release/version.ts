import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Instruction } from '../prepare/steps.mjs';

type Json = Record<string, unknown>;

const versionSource = 'libs/protocol/src/version.ts';
const chart = 'docker/kubernetes/Chart.yaml';
const dependencyFields = ['dependencies', 'devDependencies'];

/**
 * Throws unless it is MAJOR.MINOR.PATCH and newer than all released versions. Pre-releases are not
 * supported.
 */
export function assertNewVersion(version: string, released: readonly string[]): void {
  if (!isVersion(version))
    throw new Instruction(
      `“${version}” is not a version: give three numbers as in Semantic Versioning, such as 1.2.0.`,
    );
  const latest = released.filter(isVersion).sort(compareVersions).at(-1);
  if (latest && compareVersions(version, latest) <= 0)
    throw new Instruction(
      `Version ${version} is not newer than ${latest}, which was released. Choose a higher one.`,
    );
}

const isVersion = (text: string): boolean => /^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/.test(text);

const compareVersions = (one: string, other: string): number =>
  one.localeCompare(other, 'en', { numeric: true });

/** The files of a repository that contain its version, with their text for a new version. */
export function filesWithVersion(folder: string, version: string): Map<string, string> {
  const json = (path: string): Json => JSON.parse(readFileSync(join(folder, path), 'utf8')) as Json;
  const text = (value: Json) => `${JSON.stringify(value, null, 2)}\n`;
  const packages = ['', ...workspaces(folder, json('package.json').workspaces as string[])];
  const lock = json('package-lock.json');
  const locked = lock.packages as Record<string, Json>;
  for (const path of packages) locked[path] = withVersion(locked[path] ?? {}, version);
  const source = readFileSync(join(folder, versionSource), 'utf8');
  const chartSource = readFileSync(join(folder, chart), 'utf8');
  return new Map([
    ...packages.map((path): [string, string] => {
      const file = join(path, 'package.json');
      return [file, text(withVersion(json(file), version))];
    }),
    ['package-lock.json', text(withVersion(lock, version))],
    [versionSource, source.replace(/(?<=belayVersion = ')[^']*/, version)],
    [chart, chartSource.replaceAll(/(?<=^(?:version|appVersion): ).*$/gm, version)],
  ]);
}

/** The folders that patterns such as `libs/*` match. */
function workspaces(folder: string, patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => {
    if (!pattern.endsWith('/*')) return [pattern];
    const parent = pattern.slice(0, -2);
    return readdirSync(join(folder, parent), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(parent, entry.name));
  });
}

/** A package.json with a new version, also for its siblings, which depend on each other exactly. */
function withVersion(description: Json, version: string): Json {
  const changed: Json = { ...description, ...('version' in description && { version }) };
  for (const field of dependencyFields) {
    if (!(field in changed)) continue;
    const entries = Object.entries(changed[field] as Record<string, string>);
    changed[field] = Object.fromEntries(
      entries.map(([name, wanted]) => [name, name.startsWith('@belay/') ? version : wanted]),
    );
  }
  return changed;
}
