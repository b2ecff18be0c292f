import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { repositoryRoot } from './environment.js';
import { BelayServer } from './belay-server.js';

/** A copy of the sources for `npm run dev` that tests can change; its packages are links. */
export class SourceCopy {
  readonly folder = mkdtempSync(join(tmpdir(), 'belay-sources-'));

  constructor() {
    for (const name of ['apps', 'libs', 'tools', 'tsconfig.base.json', 'package.json'])
      cpSync(join(repositoryRoot, name), join(this.folder, name), {
        recursive: true,
        filter: isSource,
      });
    symlinkSync(join(repositoryRoot, 'node_modules'), join(this.folder, 'node_modules'));
    // Not linked as a whole, because Vite stores its prebundled packages there.
    const packages = 'apps/web/node_modules';
    mkdirSync(join(this.folder, packages));
    for (const name of readdirSync(join(repositoryRoot, packages)))
      if (!name.startsWith('.'))
        symlinkSync(join(repositoryRoot, packages, name), join(this.folder, packages, name));
  }

  /** A server as `npm run dev` runs it, from the copy. */
  server(): BelayServer {
    return new BelayServer({ NODE_ENV: 'production' }, () => [
      join(this.folder, 'tools/dev/main.ts'),
    ]);
  }

  /**
   * Replaces a text that must occur exactly once in the file. Writes the new file elsewhere and
   * renames it, as editors do, so that watchers never see an empty file.
   */
  change(path: string, from: string, to: string): void {
    const before = readFileSync(join(this.folder, path), 'utf8');
    if (before.split(from).length !== 2) throw new Error(`${path} has not once: ${from}`);
    const changed = join(this.folder, 'changed');
    writeFileSync(changed, before.replace(from, to));
    renameSync(changed, join(this.folder, path));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

const isSource = (path: string) =>
  !/(^|\/)(node_modules|dist)(\/|$)/.test(relative(repositoryRoot, path));
