import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Page } from 'puppeteer-core';
import {
  chord,
  Chromium,
  click,
  clickOn,
  describeSystem,
  fill,
  reportRun,
  root,
  run,
  script,
  shows,
  start,
  toolsServer,
  untilInPage,
} from '@belay/testkit';

const axe = readFileSync(join(root, 'node_modules/axe-core/axe.min.js'), 'utf8');
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** The violations that axe finds, one a line: the rule, the element and the reason. */
async function faults(page: Page): Promise<string[]> {
  // An element that is fading in has too little contrast, and one may begin to at any moment.
  await page.evaluate(() => {
    const still = new CSSStyleSheet();
    still.replaceSync(
      '*, ::before, ::after { animation: none !important; transition: none !important }',
    );
    document.adoptedStyleSheets.push(still);
  });
  await page.evaluate(axe);
  const found = await page.evaluate(
    async (values) =>
      (await (window as unknown as { axe: Axe }).axe.run(document, {
        runOnly: { type: 'tag', values },
      })) as unknown as AxeResults,
    tags,
  );
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary ?? ''}`),
  );
}

interface Axe {
  run(what: Document, options: object): Promise<unknown>;
}

describeSystem('WCAG 2.2 AA', (server) => {
  const chromium = new Chromium();
  let ended = '';
  let waiting = '';
  beforeAll(async () => {
    await chromium.start();
    const model = script(server.data, [
      {
        reason: 'First a thought.',
        say: '## Words\n\nWith `code`, a [link](https://example.com) and a table:\n\n| a | b |\n|---|---|\n| 1 | 2 |',
        calls: [
          { operation: 'plan.update', input: { markdown: '- [x] one\n- [ ] two' } },
          { operation: 'files.write', input: { path: 'a.js', content: 'const a = 1;\n' } },
          run('printf "\\033[31mred\\033[0m\\n"; false'),
        ],
      },
      { finish: 'Done.' },
    ]);
    const first = await start(server, { task: 'Show everything', model, tags: ['tag'] });
    await first.finished();
    first.close();
    ended = first.id;
    const asks = script(server.data, [{ calls: [run('echo may I')] }, { finish: 'done' }]);
    const second = await start(server, { task: 'Ask', model: asks, approvals: 'ask' });
    await second.state('waiting');
    second.close();
    waiting = second.id;
    await reportRun(server);
    await server.client.mcp.create(toolsServer);
  });
  afterAll(() => chromium.dispose());

  const places = (): [path: string, within: string, text: string][] => [
    ['/', 'main', 'Show everything'],
    ['/?sort=tag&q=everything', 'main', 'in the logs'],
    ['/?show=archived', 'main', 'The archive is empty'],
    ['/new', 'main', 'Workspace'],
    ['/evaluations', 'main', 'human-eval'],
    ['/evaluations/shown', 'main', 'flagged'],
    ['/evaluations/shown?task=Own/2&attempt=1', 'aside', 'AssertionError'],
    ['/evaluations/nothing', 'main', 'Go to the fleet'],
    ['/settings', 'main', 'Notifications'],
    ['/settings?section=models', 'main', 'ready'],
    ['/settings?section=budgets', 'main', 'Step limit'],
    ['/settings?section=network', 'main', 'Allowed hosts'],
    ['/settings?section=approvals', 'main', 'New rule'],
    ['/settings?section=mcp', 'main', 'tools in use'],
    ['/settings?section=shortcuts', 'main', 'Click a shortcut'],
    ['/doctor', 'main', 'Docker'],
    [`/sessions/${ended}`, 'main', 'Done.'],
    [`/sessions/${ended}?at=5`, 'main', 'Showing event 5'],
    [`/sessions/${waiting}`, 'main', 'Allow once'],
    ['/sessions/nothing', 'main', 'Go to the fleet'],
    ['/nowhere', 'main', 'Page not found'],
  ];

  it.each([
    ['light', 1440, 900],
    ['dark', 1440, 900],
    ['light', 390, 844],
    ['dark', 390, 844],
  ] as const)('holds on every page, %s, %d pixels wide', async (theme, width, height) => {
    const page = await chromium.open(server, '/', { width, height });
    await page.evaluate((name) => {
      localStorage.setItem(
        'belay.preferences',
        JSON.stringify({ state: { theme: name }, version: 0 }),
      );
    }, theme);
    for (const [path, within, text] of places()) {
      await page.goto(`${server.url}${path}`);
      await shows(page, within, text);
      expect({ path, faults: await faults(page) }).toEqual({ path, faults: [] });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect({ path, wide }).toEqual({ path, wide: width });
    }
    // The page sent no request to another host.
    expect(chromium.complaints).toEqual([]);
    await page.close();
  });

  it('is met in every panel, in a menu, in the palette and in a question', async () => {
    const page = await chromium.open(server, `/sessions/${ended}`);
    for (const panel of ['changes', 'usage', 'log']) {
      await clickOn(page, `#tab-${panel}`);
      await page.waitForSelector(`[role=tabpanel][aria-labelledby=tab-${panel}] *`);
      expect({ panel, faults: await faults(page) }).toEqual({ panel, faults: [] });
    }
    await page.goto(server.url);
    await click(page, 'More for Show everything');
    await shows(page, '[role=menu]', 'Archive');
    expect(await faults(page)).toEqual([]);
    await click(page, 'Delete…');
    await shows(page, '[role=dialog]', 'This cannot be undone.');
    expect(await faults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await untilInPage(page, () => !document.querySelector('[role=dialog]'));
    await chord(page, 'Control', 'k');
    await shows(page, '[role=dialog]', 'New session');
    expect(await faults(page)).toEqual([]);
    await page.close();
  });

  it('asks for a token, then opens the requested page', async () => {
    const page = await chromium.open(server, '/settings', { token: 'wrong' });
    await shows(page, 'main', 'Belay is locked');
    expect(await faults(page)).toEqual([]);
    await fill(page, 'Or paste the token', 'guess');
    await page.keyboard.press('Enter');
    await shows(page, 'main', 'That is not a token of this server.');
    expect(await faults(page)).toEqual([]);
    await fill(page, 'Or paste the token', server.token);
    await click(page, 'Open');
    await shows(page, 'main', 'Notifications');
    expect(await page.evaluate(() => location.pathname + location.search)).toBe('/settings');
    await page.close();
  });

  it('the content security policy blocks scripts and images of other origins', async () => {
    const page = await chromium.open(server);
    await shows(page, 'main', 'Show everything');
    const stopped = await page.evaluate(
      () =>
        new Promise<string[]>((done) => {
          const seen: string[] = [];
          document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
            seen.push(effectiveDirective);
            if (seen.length === 3) done(seen.toSorted());
          });
          const image = new Image();
          image.src = 'https://evil.example/pixel.png';
          const inline = document.createElement('script');
          inline.textContent = 'window.pwned = 1';
          document.body.append(image, inline);
          void fetch('https://evil.example/').catch(() => undefined);
        }),
    );
    expect(stopped).toEqual(['connect-src', 'img-src', 'script-src-elem']);
    expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
    await page.close();
  });
});
