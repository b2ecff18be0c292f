import { eventually, pause, until } from '@belay/testing';
import { isEvent } from '@belay/protocol';
import { chord, click, clickOn, fill, focusOn, hides, shows, untilInPage } from '@belay/testkit';
import { panelPlaces } from './panel-places.js';
import { describePanels } from './panels-scene.js';

const { changes, chat, terminal } = panelPlaces;

describePanels('the sizes and comments of panels', (scene) => {
  /** The columns of the terminal `main` according to the log. */
  const columns = () => {
    const last = scene.session.events.findLast(
      (event) => isEvent(event, 'terminal') && event.args.terminal === 'main',
    );
    return last && isEvent(last, 'terminal') ? last.args.columns : 0;
  };

  /**
   * Resolves to the columns once the page has requested the fitting size and has not changed it for
   * a while.
   */
  const settledColumns = async () => {
    for (let before = -1; ;) {
      const now = await until('the size of the terminal', columns);
      if (now === before) return now;
      before = now;
      await pause(1_000, 'longer than a panel is given to settle');
    }
  };

  it('two terminals are side by side or above each other, never the same one twice', async () => {
    const { page, session } = scene;
    const shown = (...names: string[]) =>
      eventually(async () => {
        const seen = await page.$$eval('[data-terminal]', (views) =>
          views.map((view) => view.getAttribute('data-terminal')),
        );
        expect(seen).toEqual(names);
      });
    await scene.call('terminal.run', { command: 'echo human-$((40+2))' });
    await click(page, 'Open a terminal', terminal);
    await page.waitForSelector('[data-terminal="you-1"]');
    await click(page, 'main', terminal);
    await shows(page, `${terminal} .xterm-rows`, 'human-42');
    const whole = await settledColumns();
    await click(page, 'Split', terminal);
    await click(page, 'Stacked');
    await shows(page, '[data-terminal="server"] .xterm-rows', /HTTP/);
    await shows(page, '[data-terminal="main"] .xterm-rows', 'human-42');
    await page.reload();
    await shows(page, '[data-terminal="server"] .xterm-rows', /HTTP/);
    await shown('you-1', 'server');
    await click(page, 'main', terminal);
    await shown('main', 'server');
    await click(page, 'server', terminal);
    await shown('server', 'main');
    await click(page, 'Split', terminal);
    await click(page, 'Side by side');
    await session.until(() => columns() < whole, 'the size of a half');
    await shows(page, '[data-terminal="main"] .xterm-rows', 'human-42');
    await click(page, 'Split', terminal);
    await click(page, 'One terminal');
    await untilInPage(page, () => document.querySelectorAll('[data-terminal]').length === 1);
    await click(page, 'main', terminal);
    await shows(page, `${terminal} .xterm-rows`, 'human-42');
    await session.until(() => columns() === whole, 'the size as before');
  });

  it('two viewers see a terminal at the size of the smaller panel', async () => {
    const { server, chromium, session } = scene;
    const alone = columns();
    const path = `/sessions/${session.id}`;
    const second = await chromium.open(server, path, { width: 1000, height: 700 });
    await click(second, 'main', terminal);
    await session.until(() => columns() < alone, 'the smaller size');
    await second.close();
    await session.until(() => columns() === alone, 'the size as before');
  });

  it('a dragged border writes one size to the log', async () => {
    const { page, session } = scene;
    const sizes = () =>
      session.events.filter(
        (event) =>
          isEvent(event, 'terminal') &&
          event.args.terminal === 'main' &&
          event.args.change === 'resized',
      ).length;
    const before = sizes();
    const box = await (await page.waitForSelector('[role=separator]'))?.boundingBox();
    if (!box) throw new Error('There is no border.');
    await page.mouse.move(box.x, box.y + 200);
    await page.mouse.down();
    for (let step = 1; step <= 6; step += 1) {
      await page.mouse.move(box.x + 30 * step, box.y + 200);
      await pause(250, 'longer than a panel is given to settle');
    }
    expect(sizes()).toBe(before);
    await page.mouse.up();
    await session.until(() => sizes() > before, 'the new size');
    expect(sizes()).toBe(before + 1);
  });

  it('the changes have syntax colours, a tree, and the lines around them', async () => {
    const { page } = scene;
    await clickOn(page, '#tab-changes');
    await untilInPage(page, () =>
      document.querySelector('[aria-label="Lines of site/index.html"] .text-code-string'),
    );
    const tree = '[aria-label="Changed files"]';
    await shows(page, tree, '0 of 2 viewed');
    await clickOn(page, `${tree} [title="poem.txt"]`);
    await hides(page, changes, 'line 13');
    await click(page, 'Show 16 lines', changes);
    await shows(page, changes, 'line 13');
    await focusOn(page, `${tree} [title="poem.txt"]`);
    await page.keyboard.press('ArrowUp');
    await untilInPage(page, () => !document.activeElement?.matches('[title="poem.txt"]'));
    await page.keyboard.press('v');
    await shows(page, tree, '1 of 2 viewed');
    await hides(page, changes, 'It was');
    await page.keyboard.press('v');
    await shows(page, tree, '0 of 2 viewed');
    await click(page, 'Publish…', changes);
    await shows(page, '[role=dialog]', 'Publish changes');
    await page.keyboard.press('Escape');
    await untilInPage(page, () => !document.querySelector('[role=dialog]'));
  });

  it('comments on lines and ranges are drafted, and sent with one Submit', async () => {
    const { page, session, call } = scene;
    // Similar to the line before, so that what differs within it is marked.
    const edit = { change: 'REPLACE' as const, from: 1, to: 1, content: ['by hand: line 1'] };
    await call('files.edit', { path: 'poem.txt', ...edit });
    const lines = `${changes} [aria-label="Lines of site/index.html"]`;
    await clickOn(page, '#tab-changes');
    await clickOn(page, '[aria-label="Changed files"] [title="site/index.html"]');
    await clickOn(page, `${lines} [aria-label="Comment on line 1"]`);
    await fill(page, 'Comment on line 1', 'Name the language.');
    await click(page, 'Add to review', changes);
    await clickOn(page, `${lines} [aria-label="Comment on line 2"]`);
    await page.keyboard.down('Shift');
    await clickOn(page, `${lines} [aria-label="Comment on line 4"]`);
    await page.keyboard.up('Shift');
    await fill(page, 'Comment on lines 2 to 4', 'Use a style sheet.');
    await chord(page, 'Control', 'Enter');
    await shows(page, changes, '2 comments not sent yet');
    await click(page, 'Show side by side', changes);
    await shows(page, changes, 'Use a style sheet.');
    await untilInPage(page, () => document.querySelector('[aria-label="Changes"] mark'));
    await click(page, 'Show unified', changes);
    await click(page, 'Submit review', changes);
    const sent = await session.event(
      (event) => isEvent(event, 'message') && event.args.review !== undefined,
    );
    expect(sent.args.text).toMatch(
      /line 1: Name the language\.[^]*lines 2 to 4: Use a style sheet/,
    );
    await hides(page, changes, 'not sent yet');
    await shows(page, '[aria-label="Comment on line 1"]', 'Name the language.');
    await click(page, 'Resolve', '[aria-label="Comment on line 1"]');
    await shows(page, '[aria-label="Comment on line 1"]', 'resolved');
    await shows(page, chat, 'Is it well?');
  });

  it('a maximized panel belongs to its session; the rail leads to the other one and back', async () => {
    const { page } = scene;
    await clickOn(page, '#tab-code', { count: 2 });
    await untilInPage(page, () => document.querySelectorAll('main section').length === 1);
    const rail = 'nav[aria-label="Sessions"]';
    await clickOn(page, `${rail} [aria-label="Prepare, finished"]`);
    await shows(page, chat, 'Prepared.');
    await clickOn(page, `${rail} [aria-label$=", waiting for you"]`);
    await click(page, 'Show all panels');
    await shows(page, chat, 'Is it well?');
  });
});
