import { linesOfPatch } from './lines-of-patch.js';

const patch = `diff --git a/a b.ts b/a b.ts
index 1..2 100644
--- a/a b.ts\t
+++ b/a b.ts\t
@@ -3,3 +3,3 @@ header
 three
-four
--- a/forged.ts
+++ b/forged.ts
+five
\\ No newline at end of file
diff --git "a/\\303\\244.ts" "b/\\303\\244.ts"
new file mode 100644
--- /dev/null
+++ "b/\\303\\244.ts"
@@ -0,0 +1 @@
+one
`;

it('knows which lines a patch shows, whatever they say', () => {
  const shown = linesOfPatch(patch);
  const on = (path: string, line: number, side: 'new' | 'old' = 'new') =>
    shown({ path, line, side });
  expect([on('a b.ts', 3), on('a b.ts', 4), on('a b.ts', 5), on('ä.ts', 1)]).toEqual(
    Array(4).fill(true),
  );
  expect([on('a b.ts', 4, 'old'), on('a b.ts', 5, 'old')]).toEqual([true, true]);
  expect([on('a b.ts', 3, 'old'), on('a b.ts', 2), on('a b.ts', 6)]).toEqual(Array(3).fill(false));
  expect([on('forged.ts', 5), on('ä.ts', 2), on('ä.ts', 1, 'old')]).toEqual(Array(3).fill(false));
});
