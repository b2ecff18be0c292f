import { realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { AppError, type OperationInput } from '@belay/protocol';
import type { Page } from './chromium.js';
import type { PageReader } from './page-reader.js';

interface FileField {
  uploadFile(...paths: string[]): Promise<void>;
}

/** How long a click may take to open a file chooser, in milliseconds. */
const chooserTimeoutMs = 5_000;

/** Sets the files of a file field, or of the chooser that a click on an element opens. */
export async function upload(
  page: Page,
  reader: PageReader,
  { element, paths, workspace }: OperationInput<'browser.upload'> & { workspace: string },
): Promise<void> {
  const files = await Promise.all(paths.map((path) => workspaceFile(workspace, path)));
  const handle = await reader.element(page, element);
  if (await reader.ask(page, element, isFileField)) {
    const isMultiple = await reader.ask(page, element, '(element) => element.multiple');
    if (files.length > 1 && !isMultiple) {
      throw new AppError('invalid_input', `${element} takes one file only.`);
    }
    return (handle as FileField).uploadFile(...files);
  }
  const chooser = page.waitForFileChooser({ timeout: chooserTimeoutMs }).catch(() => null);
  await handle.click();
  const opened = await chooser;
  if (!opened) {
    throw new AppError('conflict', `Clicking ${element} does not open a file chooser.`);
  }
  if (files.length > 1 && !opened.isMultiple()) {
    await opened.cancel();
    throw new AppError('invalid_input', `${element} takes one file only.`);
  }
  await opened.accept(files);
}

/** The path of a workspace file with links resolved; throws if it leads out of the workspace. */
async function workspaceFile(workspace: string, path: string): Promise<string> {
  const file = join(workspace, path);
  const real = await realpath(file).catch(() => null);
  if (real === null) throw new AppError('not_found', `${path} does not exist.`);
  const root = await realpath(workspace);
  if (!file.startsWith(workspace + sep) || !real.startsWith(root + sep)) {
    throw new AppError('invalid_input', `${path} is outside the workspace.`);
  }
  if (!(await stat(real)).isFile()) throw new AppError('invalid_input', `${path} is not a file.`);
  return real;
}

const isFileField = `(element) => element.tagName === 'INPUT' && element.type === 'file'`;
