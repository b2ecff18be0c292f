import type { Cause, Trial, Verdict } from '../../model.js';
import { sweBenchReport } from './swe-bench-report.js';

const trial = (task: string, outcome: Verdict['outcome'], cause: Cause | null = null) =>
  ({ task, verdict: { outcome, cause, reward: 0, detail: '' } }) as Trial;

it('is the report that SWE-bench’s harness writes, byte for byte', () => {
  const trials = [
    trial('own__x-2', 'pass'),
    trial('own__x-10', 'fail', 'wrong'),
    trial('own__x-3', 'fail', 'empty_patch'),
    trial('own__x-4', 'fail', 'patch_refused'),
  ];
  const report = sweBenchReport(
    ['own__x-2', 'own__x-10', 'own__x-3', 'own__x-4', 'own__x-5'],
    trials,
  );
  expect(report).toBe(`{
    "total_instances": 5,
    "submitted_instances": 4,
    "completed_instances": 2,
    "resolved_instances": 1,
    "unresolved_instances": 1,
    "infra_failure_instances": 0,
    "ambiguous_failure_instances": 0,
    "empty_patch_instances": 1,
    "error_instances": 1,
    "completed_ids": [
        "own__x-10",
        "own__x-2"
    ],
    "incomplete_ids": [
        "own__x-5"
    ],
    "empty_patch_ids": [
        "own__x-3"
    ],
    "submitted_ids": [
        "own__x-10",
        "own__x-2",
        "own__x-3",
        "own__x-4"
    ],
    "resolved_ids": [
        "own__x-2"
    ],
    "unresolved_ids": [
        "own__x-10"
    ],
    "infra_failure_ids": [],
    "ambiguous_failure_ids": [],
    "failure_reasons": {},
    "error_ids": [
        "own__x-4"
    ],
    "schema_version": 2
}
`);
});
