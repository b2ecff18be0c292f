import { parsedInstance } from './instance.js';
import { wrongInstance } from './wrong-instance.js';

const patch = `diff --git a/tests/test_thing.py b/tests/test_thing.py
--- a/tests/test_thing.py
+++ b/tests/test_thing.py
@@ -1,4 +1,6 @@
 def test_old():
-    assert f(1) == 5
+    assert f(
+        1) == 8
     assert f(2) == 5
+    assert same(
     f(3), 5)
diff --git a/README.md b/README.md
--- a/README.md
+++ b/README.md
@@ -1 +1,2 @@
 text
+assert f(1) == 8
`;
const instance = (test: string, more: object = {}) => ({
  ...parsedInstance({
    repo: 'own/thing',
    instance_id: 'own__thing-1',
    problem_statement: 'It is wrong.',
    test_patch: test,
  }),
  eval_script: `git apply - <<'EOF'\n${test}EOF\npytest\n`,
  log_parser: 'parse_log_pytest',
  ...more,
});

describe('an instance whose tests expect something wrong', () => {
  it('changes an added line, in the patch and in the script', () => {
    const wrong = wrongInstance(instance(patch));
    const after = patch.replace('1) == 8', '1) == 7');
    expect(wrong?.test_patch).toBe(after.trimEnd());
    expect(wrong?.eval_script).toBe(`git apply - <<'EOF'\n${after}EOF\npytest\n`);
  });

  it('is null where nothing can be changed', () => {
    const removed = patch.replace('+        1) == 8', '+        1) > 8');
    expect(wrongInstance(instance(removed))).toBeNull();
    expect(wrongInstance(instance(patch, { eval_script: 'pytest\n' }))).toBeNull();
    expect(wrongInstance(instance(''))).toBeNull();
  });

  it('changes one assertion of a program with one result', () => {
    const lines = Array.from(
      { length: 9 },
      (_, at) => `+console.assert(f(${at}) === ${at + 10});\n`,
    );
    const test = `diff --git a/test.js b/test.js\nnew file mode 100644\n--- /dev/null\n+++ b/test.js\n@@ -0,0 +1,9 @@\n${lines.join('')}`;
    const changed = (parser: string) =>
      wrongInstance(instance(test, { log_parser: parser }))
        ?.test_patch.split('\n')
        .filter((line) => !test.includes(`${line}\n`)).length;
    expect(changed('console_assert')).toBe(1);
    expect(changed('parse_log_jest')).toBe(3);
  });
});
