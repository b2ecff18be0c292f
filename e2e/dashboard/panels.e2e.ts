import { eventually, pause, until } from '@belay/testing';
import { isEvent, type OperationName, type OperationRequest } from '@belay/protocol';
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
  hides,
  run,
  script,
  shows,
  start,
  untilInPage,
  hasFocus,
} from '@belay/testkit';

const chat = '[aria-label="Chat"]';
const terminal = '[aria-label="Terminal"]';
const code = '[aria-label="Code"]';
const browser = '[aria-label="Browser"]';
const changes = '[aria-label="Changes"]';

const form = `<!doctype html><title>A form</title><body style="margin:0">
<button style="position:fixed;left:0;top:0;width:100%;height:20%" onclick="says.textContent='pressed'">Press</button>
<input style="position:fixed;left:0;top:25%;width:100%;height:15%" oninput="typed.textContent=value">
<p style="position:fixed;top:50%">It was <b id="says">left alone</b> and told <b id="typed">nothing</b>.</p>`;

const edit = (from: number, content: string) => ({
  operation: 'files.edit',
  input: { path: 'poem.txt', change: 'REPLACE', from, to: from, content: [content] },
});

describeSystem('the panels of a session', (server) => {
  const chromium = new Chromium();
  let page: Page;
  let session: Followed;
  const call = <N extends OperationName>(operation: N, input: OperationRequest<N>) =>
    server.client.sessions.call(session.id, operation, input);

  /** The columns of the terminal `main` according to the log. */
  const columns = () => {
    const last = session.events.findLast(
      (event) => isEvent(event, 'terminal') && event.args.terminal === 'main',
    );
    return last && isEvent(last, 'terminal') ? last.args.columns : 0;
  };

  /** Taking over also focuses the terminal. */
  const takeOver = async () => {
    await click(page, 'Take over', terminal);
    await shows(page, terminal, 'You’re in control');
    await hasFocus(page, `${terminal} textarea`);
    await clickOn(page, `${terminal} .xterm-screen`);
    await hasFocus(page, `${terminal} textarea`);
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

  beforeAll(async () => {
    await chromium.start();
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
    const made = await start(server, {
      task: 'Prepare',
      model: script(server.data, [
        {
          calls: [
            { operation: 'files.write', input: { path: 'poem.txt', content: lines.join('\n') } },
          ],
        },
        { finish: 'Prepared.' },
      ]),
    });
    await made.finished();
    const archive = await server.client.sessions.export(made.id, { format: 'tar' });
    const { workspace } = await server.client.uploads.workspace(archive);
    made.close();
    const markdown = '- [x] Write the page\n- [ ] Look at it';
    session = await start(server, {
      task: 'Edit the poem',
      workspace,
      model: script(server.data, [
        {
          calls: [
            { operation: 'plan.update', input: { markdown } },
            { operation: 'files.read', input: { path: 'poem.txt' } },
            { operation: 'files.read', input: { path: 'poem.txt', from: 1, to: 3 } },
            { operation: 'files.read', input: { path: 'poem.txt', from: 20 } },
          ],
        },
        {
          calls: [
            edit(2, 'a second line that stays'),
            edit(25, 'a line that nobody wanted'),
            { operation: 'files.write', input: { path: 'site/index.html', content: form } },
            run('python3 -m http.server 8000 --directory site', {
              terminal: 'server',
              background: true,
            }),
            run('until curl --silent --fail localhost:8000 >/dev/null; do sleep 0.1; done'),
            { operation: 'browser.open', input: { url: 'http://localhost:8000' } },
            { operation: 'browser.screenshot', input: {} },
          ],
        },
        { calls: [{ operation: 'ask', input: { question: 'Is it well?' } }] },
        { expect: 'It is', finish: 'As you say.' },
        // The first is refused, for the plan is not done.
        { finish: 'As you say.' },
      ]),
    });
    page = await chromium.open(server, `/sessions/${session.id}`);
    await session.event((event) => event.action === 'ask');
  });
  afterAll(async () => {
    session.close();
    await chromium.dispose();
  });
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('the user takes over the terminal, types, returns it, and opens a second one', async () => {
    await shows(page, terminal, 'Agent in control');
    await click(page, 'main', terminal);
    await takeOver();
    await page.keyboard.type('echo human-$((40+2))');
    await page.keyboard.press('Enter');
    await shows(page, `${terminal} .xterm-rows`, 'human-42');
    await click(page, 'Hand back', terminal);
    await shows(page, terminal, 'Agent in control');
    await click(page, 'Open a terminal', terminal);
    await untilInPage(
      page,
      () =>
        document.querySelectorAll('[aria-label="Terminals"] [aria-pressed]').length === 3 &&
        !document
          .querySelector('[aria-label="Terminals"] [aria-pressed=true]')
          ?.textContent?.match(/^(main|server)$/),
    );
    await takeOver();
    await page.keyboard.type('echo second-$((3*3))');
    await page.keyboard.press('Enter');
    await shows(page, `${terminal} .xterm-rows`, 'second-9');
    await click(page, 'main', terminal);
    await shows(page, `${terminal} .xterm-rows`, 'human-42');
    expect(session.terminal('main')).not.toContain('second-9');
  });

  it('two terminals are side by side or above each other, never the same one twice', async () => {
    const shown = (...names: string[]) =>
      eventually(async () => {
        const seen = await page.$$eval('[data-terminal]', (views) =>
          views.map((view) => view.getAttribute('data-terminal')),
        );
        expect(seen).toEqual(names);
      });
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
    const alone = columns();
    const path = `/sessions/${session.id}`;
    const second = await chromium.open(server, path, { width: 1000, height: 700 });
    await click(second, 'main', terminal);
    await session.until(() => columns() < alone, 'the smaller size');
    await second.close();
    await session.until(() => columns() === alone, 'the size as before');
  });

  it('a dragged border writes one size to the log', async () => {
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

  it('the user finds a file in the tree, edits it and saves it into the sandbox', async () => {
    await click(page, 'site', code);
    await click(page, 'index.html', code);
    await shows(page, `${code} .view-lines`, 'A form');
    await click(page, 'poem.txt', code);
    await shows(page, `${code} .view-lines`, 'a second line that stays');
    await clickOn(page, `${code} .view-line`);
    await chord(page, 'Control', 'Home');
    await page.keyboard.type('by hand: ');
    await click(page, 'Save', code);
    await shows(page, 'body', 'Saved poem.txt.');
    const read = await call('files.read', { path: 'poem.txt' });
    expect(JSON.stringify(read)).toContain('by hand: line 1');
    await hides(page, code, 'not saved');
  });

  it('shows the plan with its progress, and the usage', async () => {
    await shows(page, '[aria-label="Plan"]', 'Look at it');
    await shows(page, '#tab-plan', '1/2');
    await clickOn(page, '#tab-usage');
    await shows(page, '[aria-label="Usage"]', /Steps\s+3 of 100/);
    await shows(page, '[aria-label="Usage"]', 'Context');
    await clickOn(page, '#tab-log');
    await fill(page, 'Filter the log', 'plan');
    await shows(page, '[aria-label="Log"]', 'plan.update');
    await clickOn(page, '#tab-browser');
  });

  it('the user clicks and types in the agent’s browser', async () => {
    await click(page, 'Take over', browser);
    await shows(page, browser, 'Hand back');
    await untilInPage(page, () => {
      const image = document.querySelector<HTMLImageElement>('[aria-label="Browser"] img');
      return image?.complete && image.naturalWidth > 0;
    });
    const clickAt = async (part: number) => {
      // Each frame replaces the image element.
      const box = await until('the picture', async () => {
        const picture = await page.$(`${browser} img`);
        const now = await picture?.boundingBox();
        return now && now.height > 0 && now;
      });
      await page.mouse.click(box.x + box.width / 2, box.y + box.height * part);
    };
    await clickAt(0.1);
    await says(/It was pressed/);
    await clickAt(0.32);
    await page.keyboard.type('abc');
    await says(/told abc/);
    await click(page, 'Hand back', browser);
    // Several calls are summarized in one line.
    await shows(page, chat, 'You, in the browser: 2 clicks, typed “abc”');
    await shows(page, chat, 'Read 3 files');
    await untilInPage(page, () => {
      const shown = document.querySelector<HTMLImageElement>('[aria-label="Chat"] img');
      return shown?.complete && shown.naturalWidth > 0;
    });

    async function says(words: RegExp): Promise<void> {
      await eventually(async () => expect((await call('browser.read', {})).text).toMatch(words));
    }
  });

  it('the changes have syntax colours, a tree, and the lines around them', async () => {
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
    await click(page, 'Publish…', changes);
    await shows(page, '[role=dialog]', 'Publish changes');
    await page.keyboard.press('Escape');
    await untilInPage(page, () => !document.querySelector('[role=dialog]'));
  });

  it('comments on lines and ranges are drafted, and sent with one Submit', async () => {
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
    await clickOn(page, '#tab-code', { count: 2 });
    await untilInPage(page, () => document.querySelectorAll('main section').length === 1);
    const rail = 'nav[aria-label="Sessions"]';
    await clickOn(page, `${rail} [aria-label="Prepare, finished"]`);
    await shows(page, chat, 'Prepared.');
    await clickOn(page, `${rail} [aria-label$=", waiting for you"]`);
    await click(page, 'Show all panels');
    await shows(page, chat, 'Is it well?');
  });

  it('a rejected hunk is reverted when the review is submitted, and the agent receives the reason', async () => {
    await clickOn(page, '#tab-changes');
    await shows(page, changes, 'a line that nobody wanted');
    await click(
      page,
      'Reject…',
      `${changes} :nth-last-child(1 of li:has([aria-label="Lines of poem.txt"]))`,
    );
    await fill(page, 'Reason', 'Nobody wanted it.');
    await click(page, 'Add to review', changes);
    await shows(page, changes, 'a line that nobody wanted');
    await click(page, 'Submit review', changes);
    await hides(page, changes, 'a line that nobody wanted');
    const told = await session.event(
      (event) => isEvent(event, 'message') && event.args.text.includes('Nobody wanted it.'),
    );
    expect(told.args.text).toContain('poem.txt');
    const text = JSON.stringify(await call('files.read', { path: 'poem.txt' }));
    expect(text).toContain('line 25');
    expect(text).toContain('a second line that stays');
    expect(text).toContain('by hand: line 1');
    await server.client.sessions.message(session.id, { text: 'It is.' });
    await session.finished();
  });

  it('the browser can be used after the end', async () => {
    await clickOn(page, '#tab-browser');
    await click(page, 'Take over', browser);
    await fill(page, 'Address', 'localhost:8000/?after-the-end');
    await page.keyboard.press('Enter');
    await untilInPage(page, () => {
      const address = document.querySelector<HTMLInputElement>('[aria-label="Address"]');
      return !address?.disabled && address?.value.startsWith('http://localhost:8000/?after');
    });
    expect((await call('browser.read', {})).url).toContain('after-the-end');
    expect((await server.client.sessions.get(session.id)).state).toBe('finished');
  });
});
