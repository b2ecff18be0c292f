import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The size of a typical large repository; in base64, its content makes about 350 MB of history. */
export const fullSize = { files: 39_000, bytes: 500e6 };

/**
 * Creates a share of it, committed and packed. As in real repositories, a few percent of the files
 * have most of the bytes.
 */
export function syntheticRepository(folder: string, share: number): void {
  const count = Math.round(fullSize.files * share);
  const weights = Array.from({ length: count }, (_, at) => 1 + 400 / (1 + (at % 97)) ** 1.2);
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const pool = randomBytes(24 * 2 ** 20).toString('base64');
  for (const [at, weight] of weights.entries()) {
    const path = join(folder, `package-${at % 40}`, `part-${Math.floor(at / 40) % 25}`, `${at}.ts`);
    const size = Math.round((weight / whole) * fullSize.bytes * share);
    const from = (at * 7_919) % (pool.length - size);
    if (at < 1_000) mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, pool.slice(from, from + size));
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', ...args], {
      cwd: folder,
      stdio: 'ignore',
    });
  git('init', '-q');
  git('-c', 'core.bigFileThreshold=1', '-c', 'core.compression=1', 'add', '.');
  git('commit', '-qm', 'Everything');
  git('-c', 'pack.window=0', 'repack', '-adq');
}
