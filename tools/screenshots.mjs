import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { inProductNode, prepareMachine, runCommand } from './prepare/machine.mjs';
import { step } from './prepare/steps.mjs';
import { isRecent, productEnvironment, root } from './product-node.mjs';
import { withPalette } from './screenshots/palette.mjs';
import { pages, playSessions } from './screenshots/pages.mjs';

// npm run screenshots [-- PAGES…]: plays the demo on a server of its own and writes
// docs/images/PAGE[-phone][-dark].png, the pictures of docs/dashboard.md and the README.
const folder = join(root, 'docs/images');
const sizes = [
  { suffix: '', width: 1440, height: 900 },
  { suffix: '-phone', width: 390, height: 844 },
];

await runCommand(async () => {
  if (!isRecent(process.version)) return inProductNode(import.meta.url);
  Object.assign(process.env, productEnvironment(await prepareMachine({ tests: true })));
  const { BelayServer, Chromium } = createRequire(import.meta.url)('../libs/testkit');
  const server = new BelayServer({ BELAY_LOG_LEVEL: 'warn' });
  const chromium = new Chromium();
  try {
    await server.start();
    await chromium.start();
    await takeAll(server, chromium);
  } finally {
    await chromium.dispose();
    await server.dispose();
  }
  return 0;
});

async function takeAll(server, chromium) {
  mkdirSync(folder, { recursive: true });
  const wanted = process.argv.slice(2);
  const chosen = pages.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  const early = chosen.filter((page) => page.empty);
  for (const page of early) await step(page.name, () => take(server, chromium, { page }));
  const sessions = await step('sessions', () => playSessions(server));
  for (const page of chosen.filter((each) => !each.empty))
    await step(page.name, () => take(server, chromium, { page, sessions }));
}

/** One page in both sizes and both themes. */
async function take(server, chromium, { page, sessions }) {
  for (const { suffix, width, height } of sizes) {
    if (suffix && page.desktop) continue;
    for (const theme of ['light', 'dark']) {
      const tab = await chromium.open(server, '/', { width, height });
      await tab.evaluate(choose, theme);
      await tab.goto(server.url + page.path(sessions));
      await page.ready(tab, { phone: suffix !== '' });
      await tab.evaluate(tidy, server.data);
      const name = `${page.name}${suffix}${theme === 'dark' ? '-dark' : ''}.png`;
      writeFileSync(join(folder, name), withPalette(Buffer.from(await tab.screenshot())));
      await tab.browserContext().close();
    }
  }
}

/** In the page: the theme as a person would have chosen it. */
function choose(theme) {
  const saved = { state: { theme }, version: 0 };
  localStorage.setItem('belay.preferences', JSON.stringify(saved));
}

/** In the page: the server's temporary folder is named as a person's would be, and no caret blinks. */
function tidy(data) {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (node.nodeValue.includes(data))
      node.nodeValue = node.nodeValue.replaceAll(data, '~/.local/share/belay');
  document.documentElement.style.caretColor = 'transparent';
}
