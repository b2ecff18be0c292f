import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { AppError } from '@belay/protocol';

export interface TextEdit {
  text: string;
  /** The name of the file that the editor shows. */
  file: string;
  /** Returns whether the text was saved. */
  save(text: string): Promise<boolean>;
  /** Receives the path of a text that was not saved; returns whether the user wants to go on editing it. */
  goesOn(path: string): Promise<boolean>;
}

/**
 * Opens a text in the user’s editor, VISUAL or else EDITOR, until it is saved, left as it was, or the user stops. A text
 * that was typed and not saved stays in its file. Throws `invalid_input` without an editor or a terminal.
 */
export async function editText({
  text,
  file,
  save,
  goesOn,
}: TextEdit): Promise<'saved' | 'unchanged' | 'kept'> {
  const editor = editorOf();
  const path = join(await mkdtemp(join(tmpdir(), 'belay-edit-')), file);
  let isTyped = false;
  try {
    await writeFile(path, text);
    for (;;) {
      const isEnded = await endsWell(editor, path);
      const typed = await readFile(path, 'utf8');
      isTyped = typed !== text;
      if (!isEnded) throw failedEditor(editor, isTyped ? path : undefined);
      if (!isTyped) return 'unchanged';
      if (await save(typed)) {
        isTyped = false;
        return 'saved';
      }
      if (!(await goesOn(path))) return 'kept';
    }
  } finally {
    if (!isTyped) await rm(dirname(path), { recursive: true, force: true });
  }
}

function editorOf(): string {
  const editor = process.env.VISUAL || process.env.EDITOR;
  if (editor && process.stdin.isTTY) return editor;
  throw new AppError(
    'invalid_input',
    editor
      ? 'An editor needs a terminal. Name a file with the new definition instead.'
      : 'No editor is set. Set EDITOR, or name a file with the new definition.',
  );
}

/** By a shell, because the variable may have arguments, as in `code --wait`. */
async function endsWell(editor: string, path: string): Promise<boolean> {
  const program = spawn('sh', ['-c', `${editor} "$1"`, 'sh', path], { stdio: 'inherit' });
  const [code] = (await once(program, 'exit')) as [number | null];
  return code === 0;
}

const failedEditor = (editor: string, path?: string): AppError =>
  new AppError(
    'cancelled',
    `The editor (${editor}) ended with an error. Nothing was changed.${path === undefined ? '' : ` What you typed is in ${path}`}`,
  );
