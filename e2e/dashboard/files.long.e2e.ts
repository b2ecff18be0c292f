import { pause, until } from '@belay/testing';
import { chord, click, clickOn, fill, hasFocus, hides, shows, textOf } from '@belay/testkit';
import { panelPlaces } from './panel-places.js';
import { describeFiles, editorFocus, lines, typeAtStart } from './files-scene.js';

const { code } = panelPlaces;

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

describeFiles('the files of a session that change meanwhile, or are only viewed', (scene) => {
  beforeAll(() => scene.page.evaluate(holdWorkers));

  it('unsaved changes survive switching files and panels; a concurrent change by the agent is reported', async () => {
    const { page, call, textAt, holds } = scene;
    await click(page, 'shared.txt', code);
    await shows(page, lines, 'second');
    await typeAtStart(page, 'mine: ');
    await shows(page, code, 'not saved.');
    await click(page, 'windows.txt', code);
    await shows(page, lines, 'two');
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
    const { page, call, textAt } = scene;
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

  it('files are opened by a few letters, sorted by number, and shown according to their type', async () => {
    const { page } = scene;
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

  it('Follow goes where the agent edits, but not away from what the user is typing', async () => {
    const { page, call } = scene;
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

  it('viewers are offered no editing', async () => {
    const { server, chromium, session } = scene;
    const path = `/sessions/${session.id}`;
    const viewer = await chromium.open(server, path, { token: server.viewerToken });
    await click(viewer, 'windows.txt', code);
    await shows(viewer, lines, 'two');
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
