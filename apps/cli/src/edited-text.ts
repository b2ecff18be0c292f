import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@belay/protocol';

/** A text as the user left it in their editor: VISUAL, else EDITOR. Throws `invalid_input` without one or a terminal. */
export async function editedText(text: string, file: string): Promise<string> {
  const editor = process.env.VISUAL || process.env.EDITOR;
  if (!editor || !process.stdin.isTTY)
    throw new AppError(
      'invalid_input',
      editor
        ? 'An editor needs a terminal. Name a file with the new definition instead.'
        : 'No editor is set. Set EDITOR, or name a file with the new definition.',
    );
  const folder = await mkdtemp(join(tmpdir(), 'belay-edit-'));
  try {
    const path = join(folder, file);
    await writeFile(path, text);
    // By a shell, because the variable may have arguments, as in `code --wait`.
    const program = spawn('sh', ['-c', `${editor} "$1"`, 'sh', path], { stdio: 'inherit' });
    const [code] = (await once(program, 'exit')) as [number | null];
    if (code !== 0)
      throw new AppError(
        'cancelled',
        `The editor (${editor}) ended with an error. Nothing was changed.`,
      );
    return await readFile(path, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
