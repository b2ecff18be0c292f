import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A temporary folder for a test file, to be removed after its tests. */
export function temporary(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'belay-evaluation-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export function write(root: string, files: Record<string, string | Buffer>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const lines = (...values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');

export const doubling = {
  task_id: 'Own/0',
  prompt: 'def double(n):\n    """Twice n."""\n',
  entry_point: 'double',
  canonical_solution: '    return 2 * n\n',
  test: 'def check(candidate):\n    assert candidate(4) == 8\n',
};

export const humanEvalData = (root: string): string =>
  write(root, { 'human-eval.jsonl': lines(doubling) });

export const mbppData = (root: string): string =>
  write(root, {
    'mbpp.jsonl': lines({
      task_id: 1,
      prompt: 'Give back twice the number.',
      code: 'def double(n):\n    return 2 * n\n',
      test_imports: ['import math'],
      test_list: ['assert double(4) == 8', 'assert double(-1) == -2'],
    }),
  });

export const polyglotData = (root: string): string =>
  write(root, {
    'python/twice/.meta/config.json': JSON.stringify({
      files: { solution: ['twice.py'], test: ['twice_test.py'], example: ['.meta/example.py'] },
    }),
    'python/twice/.meta/example.py': 'def twice(n):\n    return 2 * n\n',
    'python/twice/.docs/instructions.md': 'Give back twice the number.\n',
    'python/twice/twice.py': 'def twice(n):\n    pass\n',
    'python/twice/twice_test.py':
      'from twice import twice\n\n\ndef test_twice():\n    assert twice(4) == 8\n',
  });

const pythonTest =
  'from pathlib import Path\n\n\ndef test_answer():\n    space = {}\n    exec(Path("/app/answer.py").read_text(), space)\n    assert space["answer"]() == 42\n';
const solve = 'printf "def answer():\\n    return 42\\n" > /app/answer.py\n';

export const terminalBenchData = (root: string): string =>
  write(root, {
    'answer/task.yaml': 'instruction: Write answer.py.\nparser_name: pytest\n',
    'answer/Dockerfile': 'FROM ghcr.io/example/t-bench/python:1\nWORKDIR /app\n',
    'answer/solution.sh': solve,
    'answer/run-tests.sh':
      '#!/bin/bash\nsource ~/.local/bin/env\nuv run pytest $TEST_DIR/test_answer.py -rA\n',
    'answer/tests/test_answer.py': pythonTest,
  });

export const harborData = (root: string): string =>
  write(root, {
    'answer/task.toml':
      'version = "1.0"\n[environment]\nmemory = "1G"\nallow_internet = false\n[agent]\ntimeout_sec = 60.0\n[verifier]\ntimeout_sec = 60.0\n',
    'answer/instruction.md': 'Write answer.py.\n',
    'answer/environment/Dockerfile': 'FROM ubuntu:24.04\nWORKDIR /app\nRUN git init -q .\n',
    'answer/solution/solve.sh': solve,
    'answer/tests/test.sh':
      '#!/bin/bash\nuvx -w pytest==8 pytest --ctrf /logs/verifier/ctrf.json /tests/test_answer.py -rA\nif [ $? -eq 0 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\ngit commit -q --allow-empty -m done\n',
    'answer/tests/test_answer.py': pythonTest,
  });

const broken = 'const twice = (n) => n + n + 1;\nmodule.exports = twice;\n';
const testPatchOf = (main: string) =>
  `diff --git a/test.js b/test.js\nnew file mode 100644\n--- /dev/null\n+++ b/test.js\n@@ -0,0 +1,2 @@\n+const twice = require('./${main}');\n+console.assert(twice(4) === 8);\n`;

/** An instance whose repository has the one file `main`. */
export function sweBenchData(root: string, main = 'main.js'): string {
  const testPatch = testPatchOf(main);
  return write(root, {
    'instances.jsonl': lines({
      repo: 'own/twice',
      instance_id: 'own__twice-1',
      base_commit: '0',
      patch: `diff --git a/${main} b/${main}\n--- a/${main}\n+++ b/${main}\n@@ -1,2 +1,2 @@\n-const twice = (n) => n + n + 1;\n+const twice = (n) => n + n;\n module.exports = twice;\n`,
      test_patch: testPatch,
      problem_statement: 'twice(4) is not 8.',
      FAIL_TO_PASS: '["test.js"]',
      PASS_TO_PASS: '[]',
      eval_type: 'pass_and_fail',
      log_parser: 'console_assert',
      eval_script: `#!/bin/bash\nset -uxo pipefail\ncd /testbed\ngit apply -v - <<'EOF_TEST'\n${testPatch}EOF_TEST\n: '>>>>> Start Test Output'\nnode test.js\n: '>>>>> End Test Output'\nrm -f test.js\n`,
      base_files: { [main]: broken },
    }),
  });
}
