import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError, errorFrom, type ProgramLaunch } from '@belay/protocol';

/**
 * Writes a program’s settings, which only its user may read. Throws `unavailable` if one cannot be written.
 */
export function writeFiles(files: ProgramLaunch['files']): void {
  for (const { path, text, executable } of files) {
    const mode = executable ? 0o700 : 0o600;
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      // What programs of the sandbox put there, such as a link, is replaced.
      rmSync(path, { recursive: true, force: true });
      writeFileSync(path, text, { mode, flag: 'wx' });
      chmodSync(path, mode);
    } catch (thrown) {
      const why = errorFrom(thrown).message;
      throw new AppError('unavailable', `The settings file ${path} cannot be written: ${why}.`);
    }
  }
}
