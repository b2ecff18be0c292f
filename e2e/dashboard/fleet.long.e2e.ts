import { join } from 'node:path';
import {
  choose,
  chord,
  Chromium,
  click,
  describeSystem,
  fill,
  focusOn,
  Followed,
  hides,
  put,
  run,
  script,
  shows,
  start,
  textOf,
  untilInPage,
} from '@belay/testkit';

const rows = '[aria-label="Sessions"]';

describeSystem(
  'the fleet: several tasks, filters and the archive',
  (server) => {
    const chromium = new Chromium();
    beforeAll(() => chromium.start());
    afterAll(() => chromium.dispose());
    afterEach(() => chromium.closePages());

    it('starts several tasks from one form; Markdown in a task does not split it', async () => {
      const page = await chromium.open(server, '/new');
      // A remembered model that no longer exists does not start a session unnoticed.
      await page.evaluate(() => {
        localStorage.setItem('belay.new-session', JSON.stringify({ models: ['openai:gone'] }));
      });
      await page.reload();
      await shows(page, 'main', 'Choose a model first.');
      await fill(page, 'Task', 'Sweep the yard');
      await click(page, 'Add task');
      await fill(page, 'Task 2', 'Paint the fence');
      await page.keyboard.press('Enter');
      await page.keyboard.type('---');
      await page.keyboard.press('Enter');
      await page.keyboard.type('White, please.');
      await click(page, 'Add task');
      await fill(page, 'Task 3', 'Not this one');
      await click(page, 'Remove task 3');
      const read = { operation: 'files.read', input: { path: 'yard/fence.txt' } };
      const model = script(server.data, [
        { calls: [read] },
        { expect: 'words-of-the-folder', finish: 'Done.' },
      ]);
      await fill(page, 'Add a model', model);
      await page.keyboard.press('Enter');
      const folder = join(server.data, 'my-garden');
      put(folder, 'yard/fence.txt', 'words-of-the-folder\n');
      put(folder, 'node_modules/nail/index.js', 'left();\n');
      // Chromium’s own dialog cannot be driven; other browsers have only the file input.
      await page.evaluate(() => Object.assign(window, { showDirectoryPicker: undefined }));
      await click(page, 'My folder', 'main');
      const [chooser] = await Promise.all([
        page.waitForFileChooser(),
        click(page, 'Choose a folder', 'main'),
      ]);
      await chooser.accept([folder]);
      await shows(page, 'main', 'my-garden: 1 file, 20 B');
      await shows(page, 'main', 'Start 2 sessions');
      await focusOn(page, '#task-0');
      await chord(page, 'Control', 'Enter');
      await untilInPage(page, () => location.pathname === '/');
      await shows(page, rows, 'Sweep the yard');
      await shows(page, rows, 'Paint the fence');
      const sessions = await server.client.sessions.list();
      const tasks = sessions.slice(0, 2).map(({ task }) => task);
      expect(tasks.toSorted()).toEqual(['Paint the fence\n---\nWhite, please.', 'Sweep the yard']);
      for (const { id } of sessions.slice(0, 2)) {
        const one = new Followed(server, id);
        await one.finished();
        one.close();
      }
      expect(chromium.complaints).toEqual([]);
    });

    it('filters, searches all logs, tags and archives', async () => {
      const model = script(server.data, [
        { say: 'A haystack with a quince in it.', calls: [run('echo done')] },
        { finish: 'done' },
      ]);
      const session = await start(server, { task: 'Look for fruit', title: 'Orchard', model });
      await session.finished();
      session.close();
      const page = await chromium.open(server);
      await click(page, 'More for Orchard');
      await click(page, 'Tags…');
      await fill(page, 'Tags (comma-separated)', 'harvest');
      await click(page, 'Save');
      await shows(page, `${rows} [aria-label="Orchard"]`, 'harvest');
      await choose(page, 'select[aria-label="Tag"]', 'harvest');
      await hides(page, rows, 'Sweep the yard');
      await shows(page, rows, 'Orchard');
      // The filter is part of the URL: back removes it, forward restores it.
      await page.goBack();
      await shows(page, rows, 'Sweep the yard');
      await page.goForward();
      await hides(page, rows, 'Sweep the yard');

      await fill(page, 'Filter sessions and search their logs', 'quince');
      await shows(page, '[aria-label="Found in logs"]', 'quince');
      await page.reload();
      await shows(page, '[aria-label="Found in logs"]', 'Orchard');
      await click(page, await linkTo(page, '[aria-label="Found in logs"]'));
      await untilInPage(page, () => /\/sessions\/.+at=\d/.test(location.href));
      await shows(page, '[aria-label="Chat"]', 'Showing event');
      await shows(page, '[aria-label="Chat"]', 'quince');

      await page.goto(server.url);
      await click(page, 'More for Orchard');
      await click(page, 'Archive');
      await hides(page, rows, 'Orchard');
      await click(page, 'Archived');
      await shows(page, rows, 'Orchard');
      await page.reload();
      await shows(page, rows, 'Orchard');
      await hides(page, rows, 'Sweep the yard');
      expect(chromium.complaints).toEqual([]);
    });
  },
  { BELAY_MAX_SANDBOXES: '3' },
);

const linkTo = async (page: Parameters<typeof textOf>[0], within: string): Promise<string> =>
  (await textOf(page, `${within} a`)).trim();
