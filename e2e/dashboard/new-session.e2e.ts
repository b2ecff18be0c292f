import { join } from 'node:path';
import {
  Chromium,
  click,
  describeSystem,
  fill,
  Followed,
  hides,
  put,
  script,
  shows,
  untilInPage,
} from '@belay/testkit';
import { until } from '@belay/testing';
import { folderReadingTurns } from './folder-reading-turns.js';

describeSystem('a session on a folder of the user’s machine', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());

  const finished = async (task: string) => {
    const session = await until(`the session ${task}`, async () =>
      (await server.client.sessions.list()).find((each) => each.task === task),
    );
    const one = new Followed(server, session.id);
    await one.finished();
    one.close();
    return session;
  };

  it('gets what git would take, which is shown before it is sent', async () => {
    const folder = join(server.data, 'my-orchard');
    put(folder, '.gitignore', '.env\n');
    put(folder, '.env', 'SECRET=abc');
    put(folder, 'tree.txt', 'words-of-the-folder\n');
    put(folder, 'deploy/server.pem', 'x');
    const page = await chromium.open(server, '/new');
    // Chromium’s own dialog cannot be driven; other browsers have only the file input.
    await page.evaluate(() => Object.assign(window, { showDirectoryPicker: undefined }));
    await shows(page, 'main', 'Models');
    await fill(page, 'Task', 'Pick the apples');
    await fill(page, 'Add a model', 'helper');
    await page.keyboard.press('Enter');
    await shows(page, 'main', 'There is no model “helper”.');
    await fill(page, 'Add a model', script(server.data, folderReadingTurns('tree.txt')));
    await page.keyboard.press('Enter');
    await click(page, 'My folder', 'main');
    const [chooser] = await Promise.all([
      page.waitForFileChooser(),
      click(page, 'Choose a folder', 'main'),
    ]);
    await chooser.accept([folder]);
    await shows(page, 'main', 'my-orchard: 3 files');
    await shows(page, 'main', '1 file looks like secrets.');
    await click(page, 'Leave them out', 'main');
    await shows(page, 'main', 'my-orchard: 2 files');
    await click(page, 'Start', 'main');
    await untilInPage(page, () => location.pathname.startsWith('/sessions/'));
    const session = await finished('Pick the apples');
    const { entries } = await server.client.sessions.call(session.id, 'files.list', {
      path: '.',
      depth: 5,
      hidden: true,
    });
    const names = entries.map(({ path }) => path).filter((path) => !path.startsWith('.git/'));
    expect(names).toEqual(expect.arrayContaining(['.gitignore', 'tree.txt']));
    expect(names).not.toContain('.env');
    expect(names).not.toContain('deploy/server.pem');

    // Its page is left when it is deleted.
    await click(page, 'More', 'header');
    await click(page, 'Delete…');
    await click(page, 'Delete', '[role=dialog]');
    await untilInPage(page, () => location.pathname === '/');
    await shows(page, '[aria-live=polite]', 'was deleted.');
    await hides(page, 'main', 'Pick the apples');
    expect(chromium.complaints).toEqual([]);
  });
});
