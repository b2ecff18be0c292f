import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@belay/testing';
import { chord, click, clickOn, fill, focusOn, hides, shows, untilInPage } from '@belay/testkit';
import { panelPlaces } from './panel-places.js';
import { describeFiles, lines, typeAtStart } from './files-scene.js';

const { code } = panelPlaces;

// files.long.e2e.ts has conflicts, previews, Follow, and what viewers see.
describeFiles('the files of a session', (scene) => {
  const there = async (path: string) =>
    (await scene.call('files.list', { path: '.', depth: 9 })).entries
      .map((entry) => entry.path)
      .includes(path);

  it('a saved file keeps its line endings and its byte order mark; files that are not UTF-8 are read-only', async () => {
    const { chromium, page, textAt } = scene;
    await click(page, 'windows.txt', code);
    await shows(page, lines, 'two');
    await typeAtStart(page, 'zero ');
    await chord(page, 'Control', 's');
    await shows(page, 'body', 'Saved windows.txt.');
    expect(await textAt('windows.txt')).toBe('\uFEFFzero one\r\ntwo\r\n');
    await click(page, 'latin1.txt', code);
    await shows(page, code, 'This file is not UTF-8.');
    await click(page, 'bytes.bin', code);
    await shows(page, code, 'This is a binary file.');
    await click(page, 'Download', code);
    const saved = await chromium.downloaded('bytes.bin');
    expect(readFileSync(saved)).toEqual(Buffer.from([0, 1, 2]));
    await click(page, 'large.bin', code);
    await shows(page, code, 'This file is over 2 MB.');
    await click(page, 'Download', code);
    expect(statSync(await chromium.downloaded('large.bin')).size).toBe(2_200_000);
    await click(page, 'picture.png', code);
    await shows(page, code, '390 × 844');
  });

  it('files are created, renamed, uploaded, downloaded and deleted', async () => {
    const { server, chromium, page, holds } = scene;
    await click(page, 'New file', code);
    await fill(page, 'Path; folders are created as needed', 'notes/new.md');
    await click(page, 'Create', '[role=dialog]');
    await shows(page, `${code} [aria-label="Open files"]`, 'new.md');
    await untilInPage(page, () =>
      document.querySelector('[title="notes/new.md"][aria-current=true]'),
    );
    await focusOn(page, '[title="notes/new.md"][aria-current=true]');
    await page.keyboard.press('F2');
    await fill(page, 'Path', 'notes/old.md');
    await click(page, 'Rename', '[role=dialog]');
    await page.waitForSelector('[title="notes/old.md"]');

    const brought = join(server.data, 'brought.txt');
    writeFileSync(brought, 'brought\n');
    await click(page, 'windows.txt', `${code} [aria-label="Files"]`);
    const [chooser] = await Promise.all([
      page.waitForFileChooser(),
      click(page, 'Upload files', code),
    ]);
    await chooser.accept([brought]);
    await page.waitForSelector('[title="brought.txt"]');
    await holds('brought.txt', 'brought\n');

    await clickOn(page, '[title="brought.txt"]', { button: 'right' });
    await click(page, 'Download', '[role=menu]');
    const saved = await chromium.downloaded('brought.txt');
    expect(readFileSync(saved, 'utf8')).toBe('brought\n');
    await untilInPage(page, () => !document.querySelector('[role=menu]'));

    await focusOn(page, '[title="brought.txt"]');
    await page.keyboard.press('Delete');
    await click(page, 'Delete', '[role=dialog]');
    await untilInPage(page, () => !document.querySelector('[title="brought.txt"]'));
    await eventually(async () => expect(await there('brought.txt')).toBe(false));
  });

  it('search finds a text in all files and opens its line', async () => {
    const { page } = scene;
    await click(page, 'Search in files', code);
    await fill(page, 'Text to find in files', 'NEEDLE');
    await shows(page, code, 'src/deep/found.txt:2');
    await clickOn(page, '[title="src/deep/found.txt:2"]');
    await shows(page, lines, 'needle here');
    await focusOn(page, '[aria-label="Text to find in files"]');
    await page.keyboard.press('Escape');
    await shows(page, `${code} [aria-label="Files"]`, 'found.txt');
    await click(page, 'Collapse all folders', code);
    await hides(page, `${code} [aria-label="Files"]`, 'found.txt');
  });
});
