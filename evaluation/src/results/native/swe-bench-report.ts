import type { Trial } from '../../model.js';
import { pythonJson } from './python-json.js';

/**
 * Whether SWE-bench's harness would have written a report: the patch applied and the tests ended in
 * time.
 */
export const hasReport = ({ verdict: { outcome, cause } }: Trial): boolean =>
  outcome !== 'invalid' &&
  cause !== 'empty_patch' &&
  cause !== 'patch_refused' &&
  cause !== 'verifier_timeout';

/**
 * SWE-bench's run report, schema 2, in its order of keys: byte for byte the file that its harness
 * writes for the same verdicts. Failures with a known sign in their log are additionally listed
 * with their reason.
 */
export function sweBenchReport(
  instances: string[],
  trials: Trial[],
  logOf: (id: string) => string = () => '',
): string {
  const ids = (matches: (trial: Trial) => boolean) =>
    trials
      .filter(matches)
      .map(({ task }) => task)
      .toSorted(byBytes);
  const submitted = ids(() => true);
  const completed = ids(hasReport);
  const empty = ids(({ verdict }) => verdict.cause === 'empty_patch');
  const resolved = ids(({ verdict }) => verdict.outcome === 'pass');
  const unresolved = completed.filter((id) => !resolved.includes(id));
  const errors = submitted.filter((id) => !completed.includes(id) && !empty.includes(id));
  const incomplete = instances.filter((id) => !submitted.includes(id)).toSorted(byBytes);
  const signs = new Map(
    trials
      .filter(({ task }) => unresolved.includes(task) || errors.includes(task))
      .flatMap((trial) => {
        const sign = signOf(trial, logOf(trial.task));
        return sign ? [[trial.task, sign]] : [];
      }),
  );
  const signed = (environment: boolean) =>
    [...signs]
      .filter(([, sign]) => sign.environment === environment)
      .map(([id]) => id)
      .toSorted(byBytes);
  const report = {
    total_instances: instances.length,
    submitted_instances: submitted.length,
    completed_instances: completed.length,
    resolved_instances: resolved.length,
    unresolved_instances: unresolved.length,
    infra_failure_instances: signed(true).length,
    ambiguous_failure_instances: signed(false).length,
    empty_patch_instances: empty.length,
    error_instances: errors.length,
    completed_ids: completed,
    incomplete_ids: incomplete,
    empty_patch_ids: empty,
    submitted_ids: submitted,
    resolved_ids: resolved,
    unresolved_ids: unresolved,
    infra_failure_ids: signed(true),
    ambiguous_failure_ids: signed(false),
    failure_reasons: Object.fromEntries(
      [...signs]
        .map(([id, { reason }]) => [id, reason] as const)
        .toSorted(([a], [b]) => byBytes(a, b)),
    ),
    error_ids: errors,
    schema_version: 2,
  };
  return `${pythonJson(report, { indent: 4 })}\n`;
}

interface Sign {
  reason: string;
  /** Whether only the environment can be the cause; if false, the patch may be as well. */
  environment: boolean;
}

/** The reasons that SWE-Bench names, in its order: the first match counts. */
const signs: (Sign & { in: RegExp })[] = [
  sign('browser_launch_failed', true, /Failed to launch|Failed to connect to the bus/),
  sign(
    'display_unavailable',
    true,
    /cannot open display|Missing X server|unable to open X display/,
  ),
  sign('out_of_memory', true, /Cannot allocate memory|OutOfMemoryError|^Killed$/m),
  sign(
    'container_unavailable',
    true,
    /Error response from daemon|Cannot connect to the Docker daemon/,
  ),
  sign('network_unreachable', true, /Could not resolve host|Temporary failure in name resolution/),
  sign('missing_module', false, /Cannot find module|MODULE_NOT_FOUND|ModuleNotFoundError/),
  sign('no_tests_collected', false, /no tests ran|collected 0 items/),
];

function sign(reason: string, environment: boolean, pattern: RegExp) {
  return { reason, environment, in: pattern };
}

function signOf({ verdict }: Trial, log: string): Sign | undefined {
  const found = signs.find((each) => each.in.test(log));
  if (found) return found;
  if (verdict.cause === 'verifier_timeout')
    return { reason: 'tests_timed_out', environment: false };
  if (verdict.outcome === 'invalid') return { reason: 'container_unavailable', environment: true };
  return undefined;
}

const byBytes = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
