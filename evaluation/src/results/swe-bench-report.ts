import type { Trial } from '../model.js';

/**
 * SWE-bench's run report, schema 2, with its order of keys and an indent of four: a file that its harness made
 * of the same verdicts has the same bytes.
 */
export function sweBenchReport(instances: string[], trials: Trial[]): string {
  const ids = (matches: (verdict: Trial['verdict']) => boolean) =>
    trials
      .filter(({ verdict }) => matches(verdict))
      .map(({ task }) => task)
      .toSorted(byBytes);
  const submitted = ids(() => true);
  const empty = ids(({ cause }) => cause === 'empty_patch');
  const infra = ids(({ outcome }) => outcome === 'invalid');
  const errors = ids(({ cause }) => cause === 'patch_refused');
  const resolved = ids(({ outcome }) => outcome === 'pass');
  const left = new Set([...empty, ...infra, ...errors]);
  const completed = submitted.filter((id) => !left.has(id));
  const unresolved = completed.filter((id) => !resolved.includes(id));
  const incomplete = instances.filter((id) => !submitted.includes(id)).toSorted(byBytes);
  const report = {
    total_instances: instances.length,
    submitted_instances: submitted.length,
    completed_instances: completed.length,
    resolved_instances: resolved.length,
    unresolved_instances: unresolved.length,
    infra_failure_instances: infra.length,
    ambiguous_failure_instances: 0,
    empty_patch_instances: empty.length,
    error_instances: errors.length,
    completed_ids: completed,
    incomplete_ids: incomplete,
    empty_patch_ids: empty,
    submitted_ids: submitted,
    resolved_ids: resolved,
    unresolved_ids: unresolved,
    infra_failure_ids: infra,
    ambiguous_failure_ids: [],
    failure_reasons: {},
    error_ids: errors,
    schema_version: 2,
  };
  return `${JSON.stringify(report, undefined, 4)}\n`;
}

const byBytes = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
