import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Page } from 'puppeteer-core';
import {
  type BelayServer,
  Chromium,
  describeSystem,
  reportSampleRun,
  repositoryRoot,
  run,
  script,
  shows,
  start,
  toolsServer,
  untilInPage,
} from '@belay/testkit';

const axe = readFileSync(join(repositoryRoot, 'node_modules/axe-core/axe.min.js'), 'utf8');
const all = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] };
/** What a theme can change, which is nothing but colours. */
const ofColours = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/** The violations that axe finds, one per line: rule, element and reason. */
export async function accessibilityFaults(page: Page, runOnly = all): Promise<string[]> {
  // Elements that are fading in have too little contrast, and a fade may begin at any moment.
  await page.evaluate(() => {
    const still = new CSSStyleSheet();
    still.replaceSync(
      '*, ::before, ::after { animation: none !important; transition: none !important }',
    );
    document.adoptedStyleSheets.push(still);
  });
  await page.evaluate(axe);
  const found = await page.evaluate(
    async (wanted) =>
      (await (window as unknown as { axe: Axe }).axe.run(document, {
        runOnly: wanted,
      })) as unknown as AxeResults,
    runOnly,
  );
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary ?? ''}`),
  );
}

interface Axe {
  run(what: Document, options: object): Promise<unknown>;
}

const automation = `name: nightly
on: { schedule: 30 2 * * 1-5 }
run: { task: Tidy up., model: scripted:example:ask-first, budgets: { dollars: 1 } }
`;

const isShown = {
  light: () => document.documentElement.dataset['theme'] === 'light',
  dark: () => document.documentElement.dataset['theme'] === 'dark',
};

/** Sets the system’s theme, which the page follows. */
async function setTheme(page: Page, theme: 'light' | 'dark'): Promise<void> {
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  await untilInPage(page, isShown[theme]);
}

/** The size of the whole document, in pixels. */
const sizeOf = (page: Page): Promise<{ width: number; height: number }> =>
  page.evaluate(() => {
    const { scrollWidth: width, scrollHeight: height } = document.documentElement;
    return { width, height };
  });

/** The width and height of the viewport, and the themes in it. */
type Look = [width: number, height: number, ...themes: ('light' | 'dark')[]];

export interface AccessibleScene {
  server: BelayServer;
  chromium: Chromium;
  /** The id of an ended session. */
  ended: () => string;
}

/** Tests every page in each of these looks, or, in a sample, one of four pages; `more` adds further tests. */
export function describeAccessiblePages(
  { looks, isSample = false }: { looks: Look[]; isSample?: boolean },
  more: (scene: AccessibleScene) => void = () => {},
): void {
  describeSystem('WCAG 2.2 AA', (server) => {
    const chromium = new Chromium();
    let ended = '';
    let waiting = '';
    let decided = '';
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
      await server.client.automations.add({ text: automation });
      if (isSample) return;
      const asks = script(server.data, [{ calls: [run('echo may I')] }, { finish: 'done' }]);
      const second = await start(server, { task: 'Ask', model: asks, approvals: 'ask' });
      await second.state('waiting');
      second.close();
      waiting = second.id;
      await reportSampleRun(server);
      decided = (await server.client.automations.run('nightly', { dry: true })).run.id;
      await server.client.mcp.create(toolsServer);
    });
    afterAll(() => chromium.dispose());

    // Of a sample, none shows what is only prepared for all.
    const tested = () =>
      places({ ended, waiting, decided }).filter((_, at) => !isSample || at % 4 === 0);
    const cases = looks.map(([width, height, ...themes]) => ({ width, height, themes }));

    it.each(cases)('holds on pages, $width pixels wide', async ({ width, height, themes }) => {
      const page = await chromium.open(server, '/', { width, height });
      for (const [path, within, text] of tested()) {
        await page.goto(`${server.url}${path}`);
        await shows(page, within, text);
        for (const [at, theme] of themes.entries()) {
          await setTheme(page, theme);
          const faults = await accessibilityFaults(page, at === 0 ? all : ofColours);
          expect({ path, theme, faults }).toEqual({ path, theme, faults: [] });
        }
        // The header stays: only the page below it scrolls.
        expect({ path, size: await sizeOf(page) }).toEqual({ path, size: { width, height } });
      }
      // The page has sent no request to another host.
      expect(chromium.complaints).toEqual([]);
      await page.close();
    });

    more({ server, chromium, ended: () => ended });
  });
}

/** The address of each page, and a text that it shows there. */
const places = ({
  ended,
  waiting,
  decided,
}: Record<'ended' | 'waiting' | 'decided', string>): [
  path: string,
  within: string,
  text: string,
][] => [
  ['/', 'main', 'Show everything'],
  ['/?sort=tag&q=everything', 'main', 'in the logs'],
  ['/?show=archived', 'main', 'The archive is empty'],
  ['/new', 'main', 'Workspace'],
  ['/automations', 'main', 'Followed repositories'],
  ['/automations/nightly', 'main', 'Not run'],
  ['/automations/nightly?section=definition', 'main', 'The definition is valid'],
  ['/automations/nightly?section=lanes', 'main', 'No lanes yet'],
  ['/automations/nightly?section=deliveries', 'main', 'Nothing was delivered yet'],
  [`/automations/nightly/runs/${decided}`, 'main', 'nightly is on'],
  ['/automations/nothing', 'main', 'No automation named nothing'],
  ['/evaluations', 'main', 'human-eval'],
  ['/evaluations/new', 'main', 'No benchmark data yet'],
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
