import { changedPaths, patchPaths } from './patch-paths.js';

const patch = `diff --git a/old.txt b/new.txt
similarity index 100%
rename from old.txt
rename to new.txt
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
index 5626abf..0000000
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-+++ b/not-a-file.txt
diff --git "a/\\303\\244.txt" "b/\\303\\244.txt"
new file mode 100644
index 0000000..5626abf
--- /dev/null
+++ "b/\\303\\244.txt"
@@ -0,0 +1 @@
+one
diff --git a/swapped.txt b/old.txt
similarity index 90%
rename from swapped.txt
rename to old.txt
diff --git a/empty.txt b/empty.txt
new file mode 100644
index 0000000..e69de29
`;

describe('the files of a patch', () => {
  it('are those that it changes, by their names afterwards', () => {
    expect(changedPaths(Buffer.from(patch)).toSorted()).toEqual(
      ['empty.txt', 'gone.txt', 'new.txt', 'old.txt', 'ä.txt'].toSorted(),
    );
  });

  it('must be there under their old names, too', () => {
    for (const path of ['old.txt', 'new.txt', 'gone.txt', 'swapped.txt', 'empty.txt'])
      expect(patchPaths(patch)).toContain(path);
  });

  it('are none when nothing was changed', () => {
    expect(changedPaths(new Uint8Array())).toEqual([]);
  });
});
