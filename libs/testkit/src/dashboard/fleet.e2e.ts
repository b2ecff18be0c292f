import { Chromium, chord, fill, hides, press, shows, textOf, until } from '../chromium.js';
import { describeSystem } from '../describe-system.js';
import { Followed, start } from '../follow.js';
import { run, script } from '../script.js';

const rows = '[aria-label="Sessions"]';

describeSystem(
  'the fleet',
  (server) => {
    const chromium = new Chromium();
    beforeAll(() => chromium.start());
    afterAll(() => chromium.dispose());
    const asks = [
      { calls: [{ operation: 'ask', input: { question: 'Which colour?' } }] },
      {
        expect: 'amber',
        calls: [{ operation: 'ask', input: { question: 'How much?', options: ['Some', 'All'] } }],
      },
      { expect: 'All', finish: 'It is amber.' },
    ];
    const runs = [{ calls: [run('echo needle-in-the-log')] }, { finish: 'Found.' }];

    it('starts several models from one form; those that wait float up and are answered there; the rest queue', async () => {
      const busy = await start(server, {
        task: 'Wait for a file',
        model: script(server.data, [
          { calls: [run('until [ -f go ]; do sleep 0.1; done')] },
          { finish: 'It came.' },
        ]),
      });
      const page = await chromium.open(server, '/new');
      await shows(page, 'main', 'Models');
      await fill(page, 'Task', 'Two models, one task');
      for (const model of [script(server.data, asks), script(server.data, runs)]) {
        await fill(page, 'Another model', model);
        await page.keyboard.press('Enter');
      }
      await press(page, 'Start 2 sessions');
      await shows(page, rows, 'Which colour?');
      await shows(page, rows, 'echo needle-in-the-log');
      await shows(page, rows, /terminal\.run until \[ -f go \]/);
      const order = await textOf(page, rows);
      expect(order.indexOf('Which colour?')).toBeLessThan(order.indexOf('Wait for a file'));
      expect(await page.title()).toBe('(2) Belay');

      // There is room for three.
      const model = script(server.data, [{ finish: 'At last.' }]);
      const queued = await start(server, { task: 'Stand in line', model });
      await shows(page, rows, 'Waiting for a free sandbox');

      await press(page, 'Allow once', rows);
      await fill(page, 'Answer: Which colour?', 'amber');
      await press(page, 'Answer', rows);
      await hides(page, rows, 'Which colour?');
      await press(page, 'All', rows);
      await hides(page, rows, 'How much?');
      await queued.finished();
      await until(page, () => document.title === 'Belay');
      await server.client.sessions.call(busy.id, 'files.write', { path: 'go', content: '' });
      await busy.finished();
      queued.close();
      busy.close();
      const sessions = await server.client.sessions.list();
      for (const { id, task } of sessions.filter(({ task }) => task.startsWith('Two'))) {
        const one = new Followed(server, id);
        await one.finished();
        expect(task).toBe('Two models, one task');
        one.close();
      }
      expect(chromium.complaints).toEqual([]);
    });

    it('starts several tasks from one form; Markdown in a task does not part it', async () => {
      const page = await chromium.open(server, '/new');
      await fill(page, 'Task', 'Sweep the yard');
      await press(page, 'Another task');
      await fill(page, 'Task 2', 'Paint the fence');
      await page.keyboard.press('Enter');
      await page.keyboard.type('---');
      await page.keyboard.press('Enter');
      await page.keyboard.type('White, please.');
      await press(page, 'Another task');
      await fill(page, 'Task 3', 'Not this one');
      await press(page, 'Remove task 3');
      await fill(page, 'Another model', script(server.data, [{ finish: 'Done.' }]));
      await page.keyboard.press('Enter');
      await shows(page, 'main', 'Start 2 sessions');
      await page.focus('#task-0');
      await chord(page, 'Control', 'Enter');
      await until(page, () => location.pathname === '/');
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
      await press(page, 'More for Orchard');
      await press(page, 'Tags…');
      await fill(page, 'Tags, separated by commas', 'harvest');
      await press(page, 'Save');
      await shows(page, `${rows} [aria-label="Orchard"]`, 'harvest');
      await page.select('select[aria-label="Tag"]', 'harvest');
      await hides(page, rows, 'Stand in line');
      await shows(page, rows, 'Orchard');
      // The filter is in the address: the way back takes it away, the way on brings it again.
      await page.goBack();
      await shows(page, rows, 'Stand in line');
      await page.goForward();
      await hides(page, rows, 'Stand in line');

      await fill(page, 'Filter sessions and search their logs', 'quince');
      await shows(page, '[aria-label="Found in logs"]', 'quince');
      await page.reload();
      await shows(page, '[aria-label="Found in logs"]', 'Orchard');
      await press(page, await linkTo(page, '[aria-label="Found in logs"]'));
      await until(page, () => /\/sessions\/.+at=\d/.test(location.href));
      await shows(page, '[aria-label="Chat"]', 'Showing event');
      await shows(page, '[aria-label="Chat"]', 'quince');

      await page.goto(server.url);
      await press(page, 'More for Orchard');
      await press(page, 'Archive');
      await hides(page, rows, 'Orchard');
      await press(page, 'Archived');
      await shows(page, rows, 'Orchard');
      await page.reload();
      await shows(page, rows, 'Orchard');
      await hides(page, rows, 'Stand in line');
      expect(chromium.complaints).toEqual([]);
    });
  },
  { BELAY_MAX_SANDBOXES: '3' },
);

const linkTo = async (page: Parameters<typeof textOf>[0], within: string): Promise<string> =>
  (await textOf(page, `${within} a`)).trim();
