import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BelayClient } from '@belay/client';
import { AppError } from '@belay/protocol';
import { EditorFolders } from './editor-folders.js';

describe('the folders of an editor', () => {
  let root: string;
  let exports: { commit: string; from?: string }[];
  let failure: AppError | undefined;
  let commit: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'belay-editor-'));
    await writeFile(join(root, 'a.txt'), 'one\n');
    exports = [];
    failure = undefined;
    commit = 'c1';
  });
  afterEach(() => rm(root, { recursive: true }));

  const patch = Buffer.from(
    'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n',
  );
  /** Every start of `belay acp` has its own. */
  const started = () => {
    const sessions = {
      wake: () => Promise.resolve(),
      call: () => Promise.resolve({ steps: [{ commit }] }),
      export: (_: string, span: { commit: string; from?: string }) => {
        if (failure) return Promise.reject(failure);
        exports.push(span);
        return Promise.resolve(patch);
      },
    };
    return new EditorFolders({ sessions } as unknown as BelayClient, join(root, 'store'));
  };
  const content = () => readFile(join(root, 'a.txt'), 'utf8');

  it('get changes that could not be written from a later start, once', async () => {
    const first = started();
    first.begin('s', root);
    failure = new AppError('unavailable', 'The peer closed the connection.');
    await expect(first.takeChanges('s')).rejects.toThrow('closed');
    expect(await content()).toBe('one\n');
    failure = undefined;
    const second = started();
    await second.reopen('s', root);
    await second.takeChanges('s');
    expect(await content()).toBe('two\n');
    await started().takeChanges('s');
    expect(exports).toEqual([{ format: 'patch', commit: 'c1' }]);
  });

  it('that are new to a session get only its later changes', async () => {
    const folders = started();
    await folders.reopen('s', root);
    await folders.takeChanges('s');
    expect(exports).toEqual([]);
    commit = 'c2';
    await folders.takeChanges('s');
    expect(exports).toEqual([{ format: 'patch', commit: 'c2', from: 'c1' }]);
    expect(await content()).toBe('two\n');
  });
});
