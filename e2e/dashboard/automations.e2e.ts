import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { itLong } from '@belay/testing';
import type { Page } from 'puppeteer-core';
import {
  type BelayServer,
  choose,
  Chromium,
  click,
  describeSystem,
  fill,
  hides,
  shows,
  textOf,
} from '@belay/testkit';

const runs = '[aria-label=Runs]';
const editor = 'Definition (YAML)';

/** Only scripts among the examples are open to what is not an admin, such as an automation. */
const examples = mkdtempSync(join(tmpdir(), 'belay-examples-'));
const counting = {
  turns: [
    { calls: [{ operation: 'files.write', input: { path: 'FIGURES.md', content: '12\n' } }] },
    { finish: 'Counted.' },
  ],
};

const definition = (name: string, on: string, budget = 'dollars') =>
  `name: ${name}
on: ${on}
run:
  task: Count the lines of code.
  model: scripted:example:count
  budgets:
    ${budget}: 1
`;

const tests = (server: BelayServer) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(async () => {
    await chromium.dispose();
    rmSync(examples, { recursive: true, force: true });
  });
  afterEach(async () => {
    expect(chromium.complaints).toEqual([]);
    await chromium.closePages();
  });

  it('one is added by its form, which names the line of a fault', async () => {
    const page = await chromium.open(server, '/automations');
    await shows(page, 'main', 'No automations');
    await click(page, 'New automation');
    await choose(page, '[aria-label="New automation"] select', 'nightly');
    await shows(page, '[aria-label="New automation"]', 'Does a task of yours every night');
    await write(page, definition('figures', '{ schedule: 30 2 * * 1-5 }', 'dolars'));
    await shows(page, '[role=status]', 'Line 7: run.budgets.dolars is unknown; did you mean');
    await click(page, 'Add');
    await shows(page, '[aria-label="New automation"]', 'dolars');
    await write(page, definition('figures', '{ schedule: 30 2 * * 1-5 }'));
    await shows(page, '[role=status]', 'The definition is valid.');
    await shows(page, '[role=status]', 'At 02:30 from Monday to Friday (UTC). Next: ');
    await click(page, 'Add');
    await shows(page, 'h1', /figures\s+on/);
    await shows(page, 'main', /Next: .+ · .+ · .+/);
    await shows(page, 'main', 'No runs yet');
  });

  it('a run by hand explains itself, and leads to its session and back', async () => {
    const page = await chromium.open(server, '/automations/figures');
    await click(page, 'Run now');
    await shows(page, '[aria-label=Decisions]', 'figures is on.');
    await shows(page, 'h1', 'nothing sent');
    await shows(page, 'main', 'It changed 1 file. Its automation publishes nothing.');
    const run = page.url();
    await click(page, await textOf(page, 'dl a[href^="/sessions/"]'));
    await shows(page, '[aria-label=Chat]', 'Counted.');
    await click(page, 'by figures for hand');
    await shows(page, '[aria-label=Decisions]', 'figures is on.');
    expect(page.url()).toBe(run);
    await click(page, 'figures', 'main');
    await shows(page, runs, 'nothing sent');
    await click(page, 'Not run');
    await shows(page, 'main', 'All of them ran');
    await click(page, 'Ran');
    await shows(page, runs, 'nothing sent');
  });

  itLong('a request with the secret of its URL begins a run', async () => {
    await add(server, definition('alert', "{ url: true, where: severity == 'high' }"));
    const page = await chromium.open(server, '/automations/alert');
    await click(page, 'More for alert');
    await click(page, 'URL and new secret…');
    await click(page, 'Make a new secret');
    await shows(page, '[role=dialog]', 'shown only now');
    const [url = '', secret = ''] = await page.$$eval('[role=dialog] code', (all) =>
      all.map((one) => one.innerText),
    );
    const post = (severity: string, bearer = secret) =>
      fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        body: JSON.stringify({ severity }),
      });
    expect((await post('high', 'bhk_wrong')).status).toBe(401);
    expect((await post('low')).status).toBe(202);
    expect((await post('high')).status).toBe(202);
    await page.keyboard.press('Escape');
    await hides(page, 'body', secret);
    await shows(page, runs, 'nothing sent');
    await click(page, 'Change its condition');
    await shows(page, 'nav [aria-current=page]', 'Definition');
    await click(page, 'Deliveries');
    await shows(page, '[aria-label=Deliveries]', 'Request to its URL taken up');
  });

  itLong('it is paused and switched on, and a change is a new version', async () => {
    await add(server, definition('changed', '{ schedule: 30 2 * * 1-5 }'));
    const page = await chromium.open(server, '/automations/changed');
    await click(page, 'Pause');
    await shows(page, 'h1', /changed\s+paused/);
    await hides(page, 'main', 'Run now');
    await click(page, 'Switch on');
    await shows(page, 'h1', /changed\s+on/);
    await click(page, 'Definition');
    await write(page, definition('changed', '{ schedule: 0 4 1 * * }'));
    await click(page, 'Save');
    await shows(page, 'header', 'At 04:00 on day 1 of each month (UTC)');
    await click(page, 'Earlier versions');
    await shows(page, 'main', /Version 1, .+, by /);
  });

  itLong('a viewer reads all of it, and is offered no change', async () => {
    await addKept(server);
    const page = await chromium.open(server, '/automations', { token: server.viewerToken });
    await shows(page, '[aria-label=Automations]', 'kept');
    expect(await buttonsIn(page)).toEqual([]);
    await page.goto(`${server.url}/automations/kept?section=definition`);
    await shows(page, 'main', 'Download');
    expect(await buttonsIn(page)).toEqual(['Download']);
    await click(page, 'Runs');
    await shows(page, runs, 'nothing sent');
    expect(await buttonsIn(page)).toEqual([]);
  });

  itLong('the keyboard alone adds one, begins a run and opens it', async () => {
    const page = await chromium.open(server);
    await shows(page, 'main', 'kept hand');
    await page.keyboard.type('gu');
    await shows(page, 'h1', 'Automations');
    await tabTo(page, 'New automation');
    await page.keyboard.press('Enter');
    await tabTo(page, editor);
    await page.keyboard.type(definition('keys', '{ hand: true }'));
    await shows(page, '[role=status]', 'The definition is valid.');
    await tabTo(page, 'Add');
    await page.keyboard.press('Enter');
    await shows(page, 'h1', /keys\s+on/);
    await tabTo(page, 'Run now');
    await page.keyboard.press('Enter');
    await shows(page, 'h1', 'nothing sent');
  });
};

/** Replaces the definition in the editor at once; typing it takes long. */
async function write(page: Page, text: string): Promise<void> {
  await fill(page, editor, ' ');
  await page.keyboard.press('Backspace');
  await page.keyboard.sendCharacter(text);
}

const add = (server: BelayServer, text: string) => server.client.automations.add({ text });

/** An automation that has run. */
async function addKept(server: BelayServer): Promise<void> {
  await add(server, definition('kept', '{ schedule: 30 2 * * 1-5 }'));
  await server.client.automations.run('kept', {});
}

/** The names of the buttons that a page shows, without those that filter. */
const buttonsIn = (page: Page): Promise<string[]> =>
  page.$$eval('main button:not([role=radio]):not([aria-expanded])', (all) =>
    all.map((one) => one.ariaLabel ?? one.innerText.trim()),
  );

/** Presses Tab until the focus is on the element with this name. */
async function tabTo(page: Page, name: string): Promise<void> {
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement as HTMLElement | null;
      return element?.ariaLabel ?? element?.innerText.trim();
    });
  for (let presses = 0; (await focused()) !== name; presses += 1) {
    if (presses === 60) throw new Error(`Tab does not reach ${name}.`);
    await page.keyboard.press('Tab');
  }
}

const folder = join(examples, 'sessions', 'count');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'session.yaml'), 'task: Count.\n');
writeFileSync(join(folder, 'script.yaml'), JSON.stringify(counting));
describeSystem('automations', tests, { BELAY_EXAMPLES: examples });
