import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Chromium, describeSystem, repositoryRoot, shows } from '@belay/testkit';

it('a session as one file contains no editor and has at most 2.5 MB', () => {
  const player = readFileSync(join(repositoryRoot, 'apps/web/dist/site/player.html'), 'utf8');
  expect(player).not.toContain('monaco');
  expect(Buffer.byteLength(player)).toBeLessThanOrEqual(2_500_000);
});

describeSystem('the first load', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());

  it('is at most 350 KB of gzipped scripts, without the editor and the terminal', async () => {
    const page = await chromium.open(server);
    await shows(page, 'main', 'Watch the demo');
    const loaded = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .map(({ name }) => new URL(name).pathname)
        .filter((path) => path.endsWith('.js')),
    );
    const site = join(repositoryRoot, 'apps/web/dist/site');
    const bytes = loaded.reduce(
      (sum, path) => sum + gzipSync(readFileSync(join(site, path))).length,
      0,
    );
    expect(loaded.length).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(350 * 1024);
    expect(loaded.filter((path) => /editor|monaco|terminal|xterm/.test(path))).toEqual([]);
    expect(chromium.complaints).toEqual([]);
  });
});
