import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '../agents/agent.js';
import { fixedArtifacts } from '../agents/baselines.js';
import { noArtifacts } from '../artifacts.js';
import type { Verdict } from '../model.js';
import { write } from './fixtures.js';
import type { TrialBench } from './trial-bench.js';

/** A repository with one file and its hidden test, as an instance of SWE-bench. */
export interface TestRepository {
  /** Hidden from the agent. */
  test: [path: string, text: string];
  /** The file that the agent changes. */
  solution: [path: string, given: string, right: string];
  parser: string;
  run: string;
  failing: string[];
  /** Replaces the image that contains only the given file. */
  image?: string;
}

/** The verdicts on these solutions. */
export async function verdictsOf<Name extends string>(
  bench: TrialBench,
  { test, solution, parser, run, failing, image }: TestRepository,
  answers: Record<Name, string>,
): Promise<Record<Name, Verdict>> {
  const [changed, given, right] = solution;
  const testPatch = patchOf(test[0], null, test[1]);
  const data = write(mkdtempSync(join(bench.folder, 'data-')), {
    'instances.jsonl': `${JSON.stringify({
      repo: 'own/thing',
      instance_id: 'own__thing-1',
      base_commit: '0',
      patch: patchOf(changed, given, right),
      test_patch: testPatch,
      problem_statement: 'It is wrong.',
      FAIL_TO_PASS: failing,
      PASS_TO_PASS: [],
      log_parser: parser,
      eval_script: `#!/bin/bash\nset -uxo pipefail\ncd /testbed\ngit apply -v - <<'EOF_TEST'\n${testPatch}EOF_TEST\n: '>>>>> Start Test Output'\n${run}\n: '>>>>> End Test Output'\n`,
      ...(image ? { image } : { base_files: { [changed]: given } }),
    })}\n`,
  });
  const names = Object.keys(answers) as Name[];
  const agents = names.map((name) => patching(patchOf(changed, given, answers[name])));
  const trials = await bench.trials('swe-bench', data, { agents });
  return Object.fromEntries(trials.map(({ verdict }, index) => [names[index], verdict])) as Record<
    Name,
    Verdict
  >;
}

/** An agent whose answer is this patch. */
const patching = (patch: string): Agent => ({
  name: 'patching',
  model: null,
  setup: () => fixedArtifacts(() => ({ ...noArtifacts, patch: Buffer.from(patch) })),
});

/** A patch that changes a file, or adds it if `before` is null; texts end with a newline. */
function patchOf(path: string, before: string | null, after: string): string {
  const marked = (text: string, mark: string) => text.replace(/^(?=.|\n)/gm, mark);
  const count = (text: string) => text.split('\n').length - 1;
  const head =
    before === null
      ? `new file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0`
      : `--- a/${path}\n+++ b/${path}\n@@ -1,${count(before)}`;
  return `diff --git a/${path} b/${path}\n${head} +1,${count(after)} @@\n${marked(before ?? '', '-')}${marked(after, '+')}`;
}
