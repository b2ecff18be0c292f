import {
  Chromium,
  click,
  describeSystem,
  fill,
  Followed,
  hides,
  run,
  script,
  shows,
  start,
  textOf,
  untilInPage,
} from '@belay/testkit';

const rows = '[aria-label="Sessions"]';

describeSystem(
  'the fleet',
  (server) => {
    const chromium = new Chromium();
    beforeAll(() => chromium.start());
    afterAll(() => chromium.dispose());
    afterEach(() => chromium.closePages());
    const asks = [
      { calls: [{ operation: 'ask', input: { question: 'Which colour?' } }] },
      {
        expect: 'amber',
        calls: [{ operation: 'ask', input: { question: 'How much?', options: ['Some', 'All'] } }],
      },
      { expect: 'All', finish: 'It is amber.' },
    ];
    const runs = [{ calls: [run('echo needle-in-the-log')] }, { finish: 'Found.' }];

    it('starts several models from one form; sessions that need the user are first and answered in place; the rest queue', async () => {
      const busy = await start(server, {
        task: 'Wait for a file',
        model: script(server.data, [
          { calls: [run('until [ -f go ]; do sleep 0.1; done', { wait: 600 })] },
          { finish: 'It came.' },
          // The first finish is refused if the agent has not yet seen the file that the user
          // created.
          { finish: 'It came.' },
        ]),
      });
      const page = await chromium.open(server, '/new');
      await shows(page, 'main', 'Models');
      await fill(page, 'Task', 'Two models, one task');
      for (const model of [script(server.data, asks), script(server.data, runs)]) {
        await fill(page, 'Add a model', model);
        await page.keyboard.press('Enter');
      }
      await click(page, 'Start 2 sessions');
      // Comparisons have their own page.
      await shows(page, 'main', 'Keep');
      await click(page, 'Fleet', 'header');
      await shows(page, rows, 'Which colour?');
      await shows(page, rows, 'echo needle-in-the-log');
      await shows(page, rows, /terminal\.run until \[ -f go \]/);
      const order = await textOf(page, rows);
      expect(order.indexOf('Which colour?')).toBeLessThan(order.indexOf('Wait for a file'));
      await untilInPage(page, () => document.title === '(2) Belay');

      // There is capacity for three sessions.
      const model = script(server.data, [{ finish: 'At last.' }]);
      const queued = await start(server, { task: 'Stand in line', model });
      await shows(page, rows, 'Waiting for a free sandbox');

      await click(page, 'Allow once', rows);
      // From here on, the other rows keep their positions.
      await shows(page, rows, 'At last.');
      await fill(page, 'Answer: Which colour?', 'amber');
      await click(page, 'Answer', rows);
      await hides(page, rows, 'Which colour?');
      await click(page, 'All', rows);
      await hides(page, rows, 'How much?');
      await queued.finished();
      await untilInPage(page, () => document.title === 'Belay');
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
  },
  { BELAY_MAX_SANDBOXES: '3' },
);
