import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { Chromium, chord, fill, hides, press, pressOn, shows, textOf, until } from '../chromium.js';
import { describeSystem } from '../describe-system.js';
import { root } from '../environment.js';
import { start, type Followed } from '../follow.js';
import { run, script } from '../script.js';

const code = '[aria-label="Code"]';
const lines = `${code} .view-lines`;
const prepare = String.raw`printf '\xef\xbb\xbfone\r\ntwo\r\n' > windows.txt
printf 'caf\xe9\n' > latin1.txt
printf '\0\1\2' > bytes.bin
mkdir -p src/deep && printf 'alpha\nneedle here\n' > src/deep/found.txt
printf 'first\nsecond\n' > shared.txt`;

describeSystem('the files of a session', (server) => {
  const chromium = new Chromium();
  let page: Page;
  let session: Followed;
  const call = (operation: string, input: object) =>
    server.client.sessions.call(session.id, operation, input);
  const base64Of = async (path: string) =>
    ((await call('files.read', { path, encoding: 'base64' })) as { content: string }).content;
  const textAt = async (path: string) => Buffer.from(await base64Of(path), 'base64').toString();
  const there = async (path: string) =>
    ((await call('files.list', { path: '.', depth: 9 })) as { entries: { path: string }[] }).entries
      .map((entry) => entry.path)
      .includes(path);

  beforeAll(async () => {
    await chromium.start();
    const picture = readFileSync(join(root, 'docs/images/welcome-phone.png')).toString('base64');
    const model = script(server.data, [
      {
        calls: [
          run(prepare),
          {
            operation: 'files.write',
            input: { path: 'picture.png', content: picture, encoding: 'base64' },
          },
          { operation: 'ask', input: { question: 'Is it all there?' } },
        ],
      },
      { finish: 'It is.' },
    ]);
    session = await start(server, { task: 'Prepare', title: 'Files', model });
    await session.event((event) => event.action === 'ask');
    page = await chromium.open(server, `/sessions/${session.id}`);
    await shows(page, code, 'windows.txt');
  });
  afterAll(async () => {
    session.close();
    await chromium.dispose();
  });
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('a saved file keeps its line ends and its mark; what is no UTF-8 is not offered for change', async () => {
    await press(page, 'windows.txt', code);
    await shows(page, lines, 'two');
    await typeAtStart(page, 'zero ');
    await chord(page, 'Control', 's');
    await shows(page, 'body', 'Saved windows.txt.');
    expect(await textAt('windows.txt')).toBe('\uFEFFzero one\r\ntwo\r\n');
    await press(page, 'latin1.txt', code);
    await shows(page, code, 'It is not UTF-8.');
    await press(page, 'bytes.bin', code);
    await shows(page, code, 'It is a binary file.');
    await press(page, 'picture.png', code);
    await shows(page, code, '390 × 844');
  });

  it('what is not saved outlives other files and panels; a change of the agent meanwhile is told', async () => {
    await press(page, 'shared.txt', code);
    await shows(page, lines, 'second');
    await typeAtStart(page, 'mine: ');
    await shows(page, code, 'It is not saved.');
    await press(page, 'windows.txt', code);
    await shows(page, lines, 'zero one');
    await pressOn(page, '#tab-changes');
    await pressOn(page, '#tab-code');
    await press(page, 'shared.txt', code);
    await shows(page, lines, 'mine: first');

    await call('files.write', { path: 'shared.txt', content: 'theirs\n' });
    await shows(page, code, 'This file changed while you edited it.');
    await shows(page, lines, 'mine: first');
    await press(page, 'Keep mine', code);
    await press(page, 'Save', code);
    await hides(page, code, 'It is not saved.');
    expect(await textAt('shared.txt')).toBe('mine: first\nsecond\n');

    await typeAtStart(page, 'again ');
    await shows(page, code, 'It is not saved.');
    await call('files.write', { path: 'shared.txt', content: 'theirs\n' });
    await press(page, 'Take theirs', code);
    await shows(page, lines, 'theirs');
    await hides(page, code, 'It is not saved.');
    expect(await textOf(page, lines)).not.toContain('again');
  });

  it('files are made, renamed, brought, taken away and deleted by hand', async () => {
    await press(page, 'New file', code);
    await fill(page, 'Path; folders are made as needed', 'notes/new.md');
    await press(page, 'Create', '[role=dialog]');
    await shows(page, `${code} [aria-label="Open files"]`, 'new.md');
    await until(page, () => document.querySelector('[title="notes/new.md"][aria-current=true]'));
    await page.focus('[title="notes/new.md"][aria-current=true]');
    await page.keyboard.press('F2');
    await fill(page, 'Path', 'notes/old.md');
    await press(page, 'Rename', '[role=dialog]');
    await page.waitForSelector('[title="notes/old.md"]');

    const brought = join(server.data, 'brought.txt');
    writeFileSync(brought, 'brought\n');
    await press(page, 'windows.txt', `${code} [aria-label="Files"]`);
    const [chooser] = await Promise.all([
      page.waitForFileChooser(),
      press(page, 'Upload files', code),
    ]);
    await chooser.accept([brought]);
    await page.waitForSelector('[title="brought.txt"]');
    expect(await textAt('brought.txt')).toBe('brought\n');

    await page.click('[title="brought.txt"]', { button: 'right' });
    await press(page, 'Download');
    const saved = join(chromium.downloads, 'brought.txt');
    await session.until(() => existsSync(saved), 'the download');
    expect(readFileSync(saved, 'utf8')).toBe('brought\n');

    await page.focus('[title="brought.txt"]');
    await page.keyboard.press('Delete');
    await press(page, 'Delete', '[role=dialog]');
    await until(page, () => !document.querySelector('[title="brought.txt"]'));
    expect(await there('brought.txt')).toBe(false);
  });

  it('a text is found in all files, and its place opens', async () => {
    await press(page, 'Search in files', code);
    await fill(page, 'Text to find in files', 'NEEDLE');
    await shows(page, code, 'src/deep/found.txt:2');
    await pressOn(page, '[title="src/deep/found.txt:2"]');
    await shows(page, lines, 'needle here');
    await page.focus('[aria-label="Text to find in files"]');
    await page.keyboard.press('Escape');
    await shows(page, `${code} [aria-label="Files"]`, 'found.txt');
    await press(page, 'Collapse all folders', code);
    await hides(page, `${code} [aria-label="Files"]`, 'found.txt');
  });

  it('who may only watch is offered no change', async () => {
    const path = `/sessions/${session.id}`;
    const viewer = await chromium.open(server, path, { token: server.viewerToken });
    await press(viewer, 'windows.txt', code);
    await shows(viewer, lines, 'zero one');
    await typeAtStart(viewer, 'touched ');
    await viewer.click('[title="windows.txt"]', { button: 'right' });
    await shows(viewer, '[role=menu]', 'Download');
    expect(await textOf(viewer, '[role=menu]')).not.toMatch(/Delete|Rename/);
    await viewer.keyboard.press('Escape');
    const offered = await viewer.$$eval('button', (all) =>
      all.map((each) => each.ariaLabel ?? each.innerText),
    );
    for (const act of ['New file', 'Upload files', 'Take over', 'Save', 'Send', 'Open a terminal'])
      expect(offered).not.toContain(act);
    expect(await textOf(viewer, lines)).not.toContain('touched');
    await viewer.browserContext().close();
  });
});

async function typeAtStart(page: Page, text: string): Promise<void> {
  await pressOn(page, `${code} .view-line`);
  await chord(page, 'Control', 'Home');
  await page.keyboard.type(text);
}
