import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRegularFile } from './index.js';

describe('attacks: a file that a name chose', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'belay-regular-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is read whole up to its limit', async () => {
    const path = join(folder, 'f');
    writeFileSync(path, 'x'.repeat(200_000));
    expect(await readRegularFile(path, 200_000)).toEqual(Buffer.alloc(200_000, 'x'));
    await expect(readRegularFile(path, 199_999)).rejects.toMatchObject({ code: 'too_large' });
    await expect(readRegularFile(join(folder, 'none'), 1)).rejects.toMatchObject({
      code: 'ENOENT',
    });
    // Files in /proc state no size.
    expect(String(await readRegularFile('/proc/self/comm', 100))).toMatch(/\n$/);
  });

  it('is not a pipe, a device or a folder, more of them than there are threads', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const others = [join(folder, 'pipe'), '/dev/ptmx', '/dev/zero', folder];
    const reads = [...others, ...others].map((path) => readRegularFile(path, 100));
    for (const { status, ...more } of await Promise.allSettled(reads))
      expect({ status, ...more }).toMatchObject({
        status: 'rejected',
        reason: { code: 'invalid_input', message: expect.stringContaining('not a regular file') },
      });
  });
});
