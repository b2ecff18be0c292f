import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Verdict } from '../model.js';
import { write } from './fixtures.js';
import { answering, type TrialBench } from './trial-bench.js';

/** A repository of one file and its hidden test, as an instance of SWE-bench. */
export interface TestRepository {
  /** Its tests, which are hidden. */
  test: [path: string, text: string];
  /** What the agent changes. */
  solution: [path: string, given: string, right: string];
  parser: string;
  run: string;
  failing: string[];
  /** In place of one with the given file alone. */
  image?: string;
}

/** The verdict of an agent that leaves this solution. */
export async function verdictOf(
  bench: TrialBench,
  { test, solution, parser, run, failing, image }: TestRepository,
  text: string,
): Promise<Verdict> {
  const [path, hidden] = test;
  const lines = hidden.trimEnd().split('\n');
  const patch = `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`;
  const [changed, given, right] = solution;
  const data = write(mkdtempSync(join(bench.folder, 'data-')), {
    'instances.jsonl': `${JSON.stringify({
      repo: 'own/thing',
      instance_id: 'own__thing-1',
      base_commit: '0',
      patch: `diff --git a/${changed} b/${changed}\n--- a/${changed}\n+++ b/${changed}\n@@ -1 +1 @@\n-${given}+${right}`,
      test_patch: patch,
      problem_statement: 'It is wrong.',
      FAIL_TO_PASS: failing,
      PASS_TO_PASS: [],
      log_parser: parser,
      eval_script: `#!/bin/bash\nset -uxo pipefail\ncd /testbed\ngit apply -v - <<'EOF_TEST'\n${patch}EOF_TEST\n: '>>>>> Start Test Output'\n${run}\n: '>>>>> End Test Output'\n`,
      ...(image ? { image } : { base_files: { [changed]: given } }),
    })}\n`,
  });
  return (await bench.trial('swe-bench', data, answering({ [changed]: text }))).verdict;
}
