import type { Page } from 'puppeteer-core';
import {
  choose,
  Chromium,
  click,
  describeSystem,
  fill,
  hides,
  script,
  shows,
  textOf,
  hasFocus,
  untilInPage,
} from '@belay/testkit';

const writes = (content: string) => ({
  calls: [{ operation: 'files.write', input: { path: 'a.txt', content } }],
});

describeSystem('comparing models', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());
  afterEach(() => expect(chromium.complaints).toEqual([]));

  const addModel = async (page: Page, name: string): Promise<void> => {
    await fill(page, 'Add a model', name);
    await page.keyboard.press('Enter');
    await shows(page, 'main', name);
  };

  it('shows two side by side with their checks, and keeps one; the fleet has a row and a board', async () => {
    const right = script(server.data, [writes('right\n'), { finish: 'It is right.' }]);
    // The agent’s own claim about the check does not count.
    const wrong = script(server.data, [
      writes('wrong\n'),
      { finish: 'The check passed, exit code 0.' },
    ]);
    const page = await chromium.open(server, '/new');
    await shows(page, 'main', 'Check command');
    await fill(page, 'Task', 'Write what is right');
    await addModel(page, right);
    await addModel(page, wrong);
    await fill(page, 'Check command', 'grep -q right a.txt && echo as-it-should-be');
    await click(page, 'Save as template…');
    await fill(page, 'Name', 'What is right');
    await click(page, 'Save', '[role=dialog]');
    await shows(page, 'main select[aria-label="Template"]', 'What is right');
    await click(page, 'Start 2 sessions');
    const column = (model: string) => `section[aria-label="${model}"]`;
    await shows(page, column(right), 'passed, exit code 0');
    await shows(page, column(wrong), 'failed, exit code 1');
    await shows(page, column(right), '1 file +1');
    await shows(page, column(wrong), 'wrong');
    await click(page, 'Output', column(right));
    await shows(page, column(right), 'as-it-should-be');
    const address = page.url();
    await page.goto(`${server.url}/`);
    await shows(page, '[aria-label="Sessions"]', '2 sessions');
    expect(await textOf(page, '[aria-label="Sessions"]')).not.toContain('It is right.');
    await click(page, '2 sessions');
    await shows(page, '[aria-label="Sessions"]', 'It is right.');
    await page.goto(address);
    await click(page, `Keep ${right}`);
    await shows(page, '[role=dialog]', `${wrong}: archived`);
    await click(page, 'Keep this one', '[role=dialog]');
    // The kept session can be published to a git host or applied to a folder right away.
    await shows(page, '[role=dialog]', 'Publish changes');
    await click(page, 'My folder', '[role=dialog]');
    await shows(page, '[role=dialog]', /belay patch \S+ --apply/);
    await page.keyboard.press('Escape');
    await untilInPage(page, () => !document.querySelector('[role=dialog]'));
    await shows(page, 'main', `${right} is kept.`);
    await shows(page, column(right), 'Publish changes');

    await page.goto(`${server.url}/`);
    await shows(page, '[aria-label="Sessions"]', 'It is right.');
    await hides(page, '[aria-label="Sessions"]', '2 sessions');
    await click(page, 'Board');
    await shows(page, '[data-lane="Review"]', 'It is right.');
    await shows(page, '[data-lane="Done"]', 'The check passed, exit code 0.');
    await page.reload();
    await shows(page, '[data-lane="Review"]', 'It is right.');
    await page.keyboard.press('j');
    await hasFocus(page, '[data-lane="Review"]');
    await page.keyboard.press('ArrowRight');
    await hasFocus(page, '[data-lane="Done"]');
    await page.goto(address);
    await click(page, 'Undo');
    await hides(page, 'main', 'is kept.');
    await page.goto(`${server.url}/new`);
    await choose(page, 'select[aria-label="Template"]', 'What is right');
    await untilInPage(
      page,
      () => document.querySelector<HTMLTextAreaElement>('#task-0')?.value === 'Write what is right',
    );
  });
});
