import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OperationName, OperationRequest } from '@belay/protocol';
import { eventually, pause, until } from '@belay/testing';
import type { Page } from 'puppeteer-core';
import {
  chord,
  Chromium,
  click,
  clickOn,
  describeSystem,
  fill,
  focusOn,
  type Followed,
  hasFocus,
  hides,
  repositoryRoot,
  run,
  script,
  shows,
  start,
  textOf,
  untilInPage,
} from '@belay/testkit';

const code = '[aria-label="Code"]';
const lines = `${code} .view-lines`;
const editorFocus = `${code} .monaco-editor.focused`;
const prepare = String.raw`printf '\xef\xbb\xbfone\r\ntwo\r\n' > windows.txt
printf 'caf\xe9\n' > latin1.txt
printf '\0\1\2' > bytes.bin
mkdir -p src/deep && printf 'alpha\nneedle here\n' > src/deep/found.txt
printf 'first\nsecond\n' > shared.txt
printf 'name,size\nfir,30\n' > trees.csv
printf '# All firs\n\nThey are **tall**.\n' > trees.md
printf '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><script>top.drawn = 1</script></svg>' > trees.svg
truncate --size 2200000 large.bin
touch part9.txt part10.txt`;

/**
 * Delays workers, as on a busy machine: a difference may be hidden before the worker that computes
 * it has started.
 */
function holdWorkers(): void {
  const { postMessage } = Worker.prototype;
  const held: (() => void)[] = [];
  Worker.prototype.postMessage = function (this: Worker, message: unknown) {
    held.push(() => postMessage.call(this, message));
  };
  addEventListener('start-workers', () => {
    Worker.prototype.postMessage = postMessage;
    for (const post of held) post();
  });
}
const startWorkers = (): boolean => dispatchEvent(new Event('start-workers'));

describeSystem('the files of a session', (server) => {
  const chromium = new Chromium();
  let page: Page;
  let session: Followed;
  const call = <N extends OperationName>(operation: N, input: OperationRequest<N>) =>
    server.client.sessions.call(session.id, operation, input);
  const base64Of = async (path: string) =>
    (await call('files.read', { path, encoding: 'base64' })).content;
  const textAt = async (path: string) => Buffer.from(await base64Of(path), 'base64').toString();
  const holds = (path: string, text: string) =>
    eventually(async () => expect(await textAt(path)).toBe(text));
  const there = async (path: string) =>
    (await call('files.list', { path: '.', depth: 9 })).entries
      .map((entry) => entry.path)
      .includes(path);

  beforeAll(async () => {
    await chromium.start();
    const picture = readFileSync(join(repositoryRoot, 'docs/images/welcome-phone.png')).toString(
      'base64',
    );
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
    await page.evaluate(holdWorkers);
  });
  afterAll(async () => {
    session.close();
    await chromium.dispose();
  });
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('a saved file keeps its line endings and its byte order mark; files that are not UTF-8 are read-only', async () => {
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

  it('unsaved changes survive switching files and panels; a concurrent change by the agent is reported', async () => {
    await click(page, 'shared.txt', code);
    await shows(page, lines, 'second');
    await typeAtStart(page, 'mine: ');
    await shows(page, code, 'not saved.');
    await click(page, 'windows.txt', code);
    await shows(page, lines, 'zero one');
    await clickOn(page, '#tab-changes');
    await clickOn(page, '#tab-code');
    await click(page, 'shared.txt', code);
    await shows(page, lines, 'mine: first');

    await call('files.write', { path: 'shared.txt', content: 'theirs\n' });
    await shows(page, code, 'This file changed while you edited it.');
    await shows(page, lines, 'mine: first');
    // Saving while the conflict is shown overwrites nothing.
    await clickOn(page, `${code} .view-line`);
    await page.waitForSelector(editorFocus);
    await chord(page, 'Control', 's');
    await shows(page, 'body', 'take theirs or keep yours, then save.');
    expect(await textAt('shared.txt')).toBe('theirs\n');
    await click(page, 'Show the difference', code);
    const difference = '[aria-label="Difference between theirs and mine"]';
    await shows(page, difference, 'theirs');
    await shows(page, difference, 'mine: first');
    await pause(400, 'the editor begins to compare a moment after a change');
    await click(page, 'Hide the difference', code);
    await page.evaluate(startWorkers);
    // The end of a comparison leaves the editor its suggestions.
    await clickOn(page, `${code} .view-line`);
    await page.waitForSelector(editorFocus);
    await chord(page, 'Control', 'Space');
    await page.waitForSelector('.suggest-widget.visible');
    await page.keyboard.press('Escape');
    await click(page, 'Keep mine', code);
    await click(page, 'Save', code);
    await hides(page, code, 'not saved.');
    await holds('shared.txt', 'mine: first\nsecond\n');

    await typeAtStart(page, 'again ');
    await shows(page, code, 'not saved.');
    await call('files.write', { path: 'shared.txt', content: 'mine: first\nsecond\ntheirs\n' });
    await click(page, 'Merge', code);
    await shows(page, code, 'The result of the merge');
    await shows(page, difference, 'theirs');
    await page.waitForSelector(editorFocus);
    await chord(page, 'Control', 's');
    await holds('shared.txt', 'again mine: first\nsecond\ntheirs\n');
    await hides(page, code, 'not saved.');

    await typeAtStart(page, 'again ');
    await shows(page, code, 'not saved.');
    await call('files.write', { path: 'shared.txt', content: 'theirs\n' });
    await click(page, 'Take theirs', code);
    await shows(page, lines, 'theirs');
    await hides(page, code, 'not saved.');
    await hides(page, lines, 'again');
  });

  it('a save is refused over an edit that the page has not seen yet, and an existing file is not created again', async () => {
    await click(page, 'shared.txt', code);
    await shows(page, lines, 'theirs');
    await typeAtStart(page, 'unseen ');
    await shows(page, code, 'not saved.');
    // A program changes the file after its call has ended, so the page receives no event.
    await call('terminal.run', { command: "(sleep 1; printf 'by a program\\n' > shared.txt) &" });
    const written = async () => (await textAt('shared.txt')) === 'by a program\n';
    await until('the change', written);
    await chord(page, 'Control', 's');
    await shows(page, code, 'This file changed while you edited it.');
    expect(await textAt('shared.txt')).toBe('by a program\n');
    await click(page, 'Take theirs', code);
    await shows(page, lines, 'by a program');
    await click(page, 'New file', code);
    await fill(page, 'Path; folders are created as needed', 'shared.txt');
    await click(page, 'Create', '[role=dialog]');
    await shows(page, 'body', 'shared.txt exists already');
    expect(await textAt('shared.txt')).toBe('by a program\n');
  });

  it('Follow goes where the agent edits, but not away from what the user is typing', async () => {
    const numbered = Array.from({ length: 400 }, (_, index) => `row ${index + 1}.`);
    await call('files.write', { path: 'long.txt', content: numbered.join('\n') });
    await shows(page, code, 'Follow on');
    await click(page, 'long.txt', code);
    const edit = (line: number, text: string) =>
      call('files.edit', {
        path: 'long.txt',
        change: 'REPLACE',
        from: line,
        to: line,
        content: [text],
      });
    await shows(page, lines, 'row 1.');
    await edit(300, 'row 300 is the agent’s.');
    await shows(page, lines, 'row 300 is the agent’s.');
    await hides(page, lines, 'row 1.');
    // The first line may lie below the shadow of the editor's edge.
    await clickOn(page, `${code} .view-line:nth-child(8)`);
    await page.waitForSelector(editorFocus);
    await page.keyboard.type('typed ');
    await shows(page, code, 'not saved.');
    await edit(2, 'row 2 is the agent’s.');
    await shows(page, code, 'This file changed while you edited it.');
    await shows(page, lines, 'typed ');
    await click(page, 'Take theirs', code);
    await hides(page, code, 'not saved.');
    await edit(3, 'row 3 is the agent’s.');
    await shows(page, lines, 'row 3 is the agent’s.');
  });

  it('files are created, renamed, uploaded, downloaded and deleted', async () => {
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

  it('files are opened by a few letters, sorted by number, and shown according to their type', async () => {
    const tree = `${code} [aria-label="Files"]`;
    await shows(page, tree, /part9\.txt\s+part10\.txt/);
    await chord(page, 'Control', 'p');
    await hasFocus(page, '[role=dialog] input');
    await page.keyboard.type('tcsv');
    await hides(page, '[role=dialog]', 'shared.txt');
    await shows(page, '[role=dialog] [aria-selected=true]', 'trees.csv');
    await page.keyboard.press('Enter');
    await shows(page, lines, 'fir,30');
    await click(page, 'Preview', code);
    await shows(page, `${code} td`, 'fir');
    await click(page, 'Source', code);
    await shows(page, lines, 'fir,30');
    await click(page, 'trees.md', tree);
    await shows(page, lines, '# All firs');
    await click(page, 'Preview', code);
    await shows(page, `${code} h1`, 'All firs');
    await shows(page, `${code} strong`, 'tall');
    await click(page, 'trees.svg', tree);
    await click(page, 'Preview', code);
    await shows(page, `${code} figcaption`, '30 × 20');
    await page.waitForSelector(`${code} img[alt="trees.svg"]`);
    expect(await page.evaluate(() => 'drawn' in window)).toBe(false);
  });

  it('viewers are offered no editing', async () => {
    const path = `/sessions/${session.id}`;
    const viewer = await chromium.open(server, path, { token: server.viewerToken });
    await click(viewer, 'windows.txt', code);
    await shows(viewer, lines, 'zero one');
    await typeAtStart(viewer, 'touched ');
    await clickOn(viewer, '[title="windows.txt"]', { button: 'right' });
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
  await clickOn(page, `${code} .view-line`);
  await page.waitForSelector(editorFocus);
  await chord(page, 'Control', 'Home');
  await page.keyboard.type(text);
}
