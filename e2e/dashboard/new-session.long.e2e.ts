import { Chromium, click, describeSystem, fill, Followed, script, shows } from '@belay/testkit';
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

  it('is offered again where the browser can remember it', async () => {
    const page = await chromium.open(server, '/new');
    await shows(page, 'main', 'Models');
    // A folder of the page’s own file system, since no test can answer Chromium’s dialog.
    const choose = () =>
      page.evaluate(async () => {
        const top = await navigator.storage.getDirectory();
        const folder = await top.getDirectoryHandle('my-meadow', { create: true });
        const file = await folder.getFileHandle('grass.txt', { create: true });
        const writer = await file.createWritable();
        await writer.write('words-of-the-folder\n');
        await writer.close();
        Object.assign(window, { showDirectoryPicker: async () => folder });
      });
    await choose();
    await click(page, 'My folder', 'main');
    await click(page, 'Choose a folder', 'main');
    await shows(page, 'main', 'my-meadow: 1 file, 20 B');
    await page.reload();
    await shows(page, 'main', 'Models');
    await fill(page, 'Task', 'Mow the meadow');
    await fill(page, 'Add a model', script(server.data, folderReadingTurns('grass.txt')));
    await page.keyboard.press('Enter');
    await click(page, 'My folder', 'main');
    await click(page, 'Use my-meadow again', 'main');
    await shows(page, 'main', 'my-meadow: 1 file, 20 B');
    await click(page, 'Start', 'main');
    await finished('Mow the meadow');
    expect(chromium.complaints).toEqual([]);
  });
});
