import { Injectable } from '@nestjs/common';
import { wholePatch } from '../../publishing/session-patch.js';
import { Exports } from '../../sessions/exports.js';

/** How many files a session changed, as its recorded patch says. */
@Injectable()
export class RunChanges {
  constructor(private readonly exports: Exports) {}

  async filesOf(session: string): Promise<number> {
    const patch = await this.exports.open(session, { format: 'patch' }, { wake: true });
    return filesInPatch(await wholePatch(patch));
  }
}

const header = 'diff --git ';

/** Lines of files begin with another character, and those of binary patches have no spaces. */
export function filesInPatch(patch: Buffer): number {
  let files = patch.subarray(0, header.length).toString('latin1') === header ? 1 : 0;
  for (let at = patch.indexOf(`\n${header}`); at >= 0; at = patch.indexOf(`\n${header}`, at + 1))
    files += 1;
  return files;
}
