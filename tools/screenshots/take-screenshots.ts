import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BelayServer, Chromium, untilInPage } from '@belay/testkit';
import { step } from '../prepare/steps.mjs';
import { root } from '../product-node.mjs';
import { screenshots, type Screenshot } from './screenshots.ts';
import { withPalette } from './with-palette.ts';
import { playSessions, type PlayedSessions } from './play-sessions.ts';

const folder = join(root, 'docs/images');
const sizes = [
  { suffix: '', width: 1440, height: 900 },
  { suffix: '-phone', width: 390, height: 844 },
];

/** Takes screenshots of the named pages, or of all, on a new server. */
export async function takeScreenshots(wanted: string[]): Promise<number> {
  const server = new BelayServer({ BELAY_LOG_LEVEL: 'warn' });
  const chromium = new Chromium({ whole: true });
  try {
    await server.start();
    await chromium.start();
    await takeAll({ server, chromium }, wanted);
  } finally {
    await chromium.dispose();
    await server.dispose();
  }
  return 0;
}

interface Studio {
  server: BelayServer;
  chromium: Chromium;
}

async function takeAll(studio: Studio, wanted: string[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const chosen = screenshots.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  const early = chosen.filter((page) => page.empty);
  for (const page of early) await step(page.name, () => take(studio, page));
  const sessions = await step('sessions', () => playSessions(studio.server));
  for (const page of chosen.filter((each) => !each.empty))
    await step(page.name, () => take(studio, page, sessions));
}

/** Before any session exists. */
const nothingPlayed: PlayedSessions = {
  demo: '',
  publish: '',
  comparison: '',
  middle: 0,
  automation: '',
  decided: '',
};

/** Takes one page in both sizes and both themes. */
async function take(
  { server, chromium }: Studio,
  page: Screenshot,
  sessions: PlayedSessions = nothingPlayed,
): Promise<void> {
  for (const { suffix, width, height } of sizes) {
    if (suffix && page.desktop) continue;
    for (const theme of ['light', 'dark']) {
      const tab = await chromium.open(server, '/', { width, height });
      await tab.evaluate(choose, theme);
      await tab.goto(server.url + page.path(sessions));
      await page.ready(tab, { phone: suffix !== '' });
      await untilInPage(tab, isSettled);
      await tab.evaluate(tidy, { [server.data]: '~/.local/share/belay', [root]: '~/belay' });
      const name = `${page.name}${suffix}${theme === 'dark' ? '-dark' : ''}.png`;
      writeFileSync(join(folder, name), withPalette(Buffer.from(await tab.screenshot())));
      await tab.browserContext().close();
    }
  }
}

/** Runs in the page: stores the theme as if a user had chosen it. */
function choose(theme: string): void {
  const saved = { state: { theme }, version: 0 };
  localStorage.setItem('belay.preferences', JSON.stringify(saved));
}

/** Runs in the page: whether it has its fonts, its connection and all that it loads. */
function isSettled(): boolean {
  const states = [...document.querySelectorAll('[role=status]')];
  const isLoading = states.some(({ textContent }) => /^(Loading|connecting)/.test(textContent));
  return document.fonts.status === 'loaded' && !isLoading;
}

/** Runs in the page: replaces folders of this machine by typical ones, and hides the caret. */
function tidy(names: Record<string, string>): void {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    for (const [path, name] of Object.entries(names))
      if (node.nodeValue?.includes(path)) node.nodeValue = node.nodeValue.replaceAll(path, name);
  document.documentElement.style.caretColor = 'transparent';
}
