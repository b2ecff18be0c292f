import { isFact } from '@belay/protocol';
import type { Page } from 'puppeteer-core';
import { Chromium, chord, fill, hides, press, pressOn, shows, textOf, until } from '../chromium.js';
import { describeSystem } from '../describe-system.js';
import { start, type Followed } from '../follow.js';
import { run, script } from '../script.js';

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
  const call = (operation: string, input: object) =>
    server.client.sessions.call(session.id, operation, input);

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
    const archive = await server.client.sessions.export(made.id, 'tar');
    const { workspace } = await server.client.uploadWorkspace(archive);
    made.close();
    const markdown = '- [x] Write the page\n- [ ] Look at it';
    session = await start(server, {
      task: 'Edit the poem',
      workspace,
      model: script(server.data, [
        {
          calls: [
            { operation: 'plan.update', input: { markdown } },
            edit(2, 'a second line that stays'),
            edit(25, 'a line that nobody wanted'),
            { operation: 'files.write', input: { path: 'site/index.html', content: form } },
            run('python3 -m http.server 8000 --directory site', {
              terminal: 'server',
              background: true,
            }),
            run('until curl --silent --fail localhost:8000 >/dev/null; do sleep 0.1; done'),
            { operation: 'browser.open', input: { url: 'http://localhost:8000' } },
          ],
        },
        { calls: [{ operation: 'ask', input: { question: 'Is it well?' } }] },
        { expect: 'Nobody wanted it', finish: 'As you say.' },
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

  it('a person takes the terminal over, types, hands it back, and opens a second one', async () => {
    await shows(page, terminal, 'agent types');
    await press(page, 'main', terminal);
    await press(page, 'Take over', terminal);
    await shows(page, terminal, 'you type');
    await pressOn(page, `${terminal} .xterm-screen`);
    await page.keyboard.type('echo human-$((40+2))');
    await page.keyboard.press('Enter');
    await shows(page, `${terminal} .xterm-rows`, 'human-42');
    await press(page, 'Hand back', terminal);
    await shows(page, terminal, 'agent types');
    await press(page, 'Open a terminal', terminal);
    await until(
      page,
      () =>
        document.querySelectorAll('[aria-label="Terminals"] [aria-pressed]').length === 3 &&
        !document
          .querySelector('[aria-label="Terminals"] [aria-pressed=true]')
          ?.textContent?.match(/^(main|server)$/),
    );
    await press(page, 'Take over', terminal);
    await shows(page, terminal, 'you type');
    await pressOn(page, `${terminal} .xterm-screen`);
    await page.keyboard.type('echo second-$((3*3))');
    await page.keyboard.press('Enter');
    await shows(page, `${terminal} .xterm-rows`, 'second-9');
    await press(page, 'main', terminal);
    await shows(page, `${terminal} .xterm-rows`, 'human-42');
    expect(session.terminal('main')).not.toContain('second-9');
  });

  it('two people see a terminal at the size of the smaller panel', async () => {
    const columns = () => {
      const last = session.events.findLast(
        (event) => isFact(event, 'terminal') && event.args.terminal === 'main',
      );
      return last && isFact(last, 'terminal') ? last.args.columns : 0;
    };
    const alone = columns();
    const path = `/sessions/${session.id}`;
    const second = await chromium.open(server, path, { width: 1000, height: 700 });
    await press(second, 'main', terminal);
    await session.until(() => columns() < alone, 'the smaller size');
    await second.close();
    await session.until(() => columns() === alone, 'the size as before');
  });

  it('a border that is dragged for a while is one size in the log', async () => {
    const sizes = () =>
      session.events.filter(
        (event) =>
          isFact(event, 'terminal') &&
          event.args.terminal === 'main' &&
          event.args.change === 'resized',
      ).length;
    const before = sizes();
    const box = await (await page.$('[role=separator]'))?.boundingBox();
    if (!box) throw new Error('There is no border.');
    await page.mouse.move(box.x, box.y + 200);
    await page.mouse.down();
    // Slower than what a panel is given to settle.
    for (let step = 1; step <= 6; step += 1) {
      await page.mouse.move(box.x + 30 * step, box.y + 200);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    expect(sizes()).toBe(before);
    await page.mouse.up();
    await session.until(() => sizes() > before, 'the new size');
    expect(sizes()).toBe(before + 1);
  });

  it('a person finds a file in the tree, edits it by hand and saves it into the sandbox', async () => {
    await press(page, 'site', code);
    await press(page, 'index.html', code);
    await shows(page, `${code} .view-lines`, 'A form');
    await press(page, 'poem.txt', code);
    await shows(page, `${code} .view-lines`, 'a second line that stays');
    await pressOn(page, `${code} .view-line`);
    await chord(page, 'Control', 'Home');
    await page.keyboard.type('by hand: ');
    await press(page, 'Save', code);
    await shows(page, 'body', 'Saved poem.txt.');
    const read = await call('files.read', { path: 'poem.txt' });
    expect(JSON.stringify(read)).toContain('by hand: line 1');
    expect(await textOf(page, code)).not.toContain('It is not saved');
  });

  it('shows the plan with its progress, and what was used', async () => {
    await shows(page, '[aria-label="Plan"]', 'Look at it');
    await shows(page, '#tab-plan', '1/2');
    await pressOn(page, '#tab-usage');
    await shows(page, '[aria-label="Usage"]', /Steps\s+2 of 100/);
    await shows(page, '[aria-label="Usage"]', 'Context');
    await pressOn(page, '#tab-log');
    await fill(page, 'Filter the log', 'plan');
    await shows(page, '[aria-label="Log"]', 'plan.update');
    await pressOn(page, '#tab-browser');
  });

  it('a person clicks and types in the agent’s browser', async () => {
    await press(page, 'Take over', browser);
    await until(page, () => {
      const image = document.querySelector<HTMLImageElement>('[aria-label="Browser"] img');
      return image?.complete && image.naturalWidth > 0;
    });
    const clickAt = async (part: number) => {
      const picture = await page.$(`${browser} img`);
      const box = await picture?.boundingBox();
      if (!box) throw new Error('There is no picture.');
      await page.mouse.click(box.x + box.width / 2, box.y + box.height * part);
    };
    await clickAt(0.1);
    await says(/It was pressed/);
    await clickAt(0.32);
    await page.keyboard.type('abc');
    await says(/told abc/);
    await press(page, 'Hand back', browser);

    async function says(words: RegExp): Promise<void> {
      for (const started = Date.now(); ;) {
        const { text } = (await call('browser.read', {})) as { text: string };
        if (words.test(text)) return;
        if (Date.now() - started > 40_000) throw new Error(`${String(words)} is not in ${text}`);
      }
    }
  });

  it('a hunk that is rejected goes back, and the agent reads why', async () => {
    await pressOn(page, '#tab-changes');
    await shows(page, changes, 'a line that nobody wanted');
    await press(
      page,
      'Reject…',
      `${changes} details:has([aria-label="Lines of poem.txt"]) > div:last-child`,
    );
    await fill(page, 'Why it is rejected', 'Nobody wanted it.');
    await press(page, 'Reject', changes);
    await hides(page, changes, 'a line that nobody wanted');
    const told = await session.event(
      (event) => isFact(event, 'message') && event.args.text.includes('Nobody wanted it.'),
    );
    expect(told.args.text).toContain('poem.txt');
    const text = JSON.stringify(await call('files.read', { path: 'poem.txt' }));
    expect(text).toContain('line 25');
    expect(text).toContain('a second line that stays');
    expect(text).toContain('by hand: line 1');
    await session.finished();
  });
});
