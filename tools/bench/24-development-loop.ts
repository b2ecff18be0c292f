import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { shows, SourceCopy, type BelayServer, type Chromium } from '@belay/testkit';
import type { Page } from 'puppeteer-core';
import { createServer } from 'vite';
import { temporaryFolder, withChromium, withServer } from './platform.ts';
import { median, timed } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title = '`npm run dev`: a change of a component → seen, of the server → answered';

const samples = 5;

/**
 * The floor of the component is Vite alone with one module; that of the server is starting the
 * built one.
 */
export async function measure(): Promise<Row[]> {
  const start = await timed(3, () => withServer({}, () => Promise.resolve()));
  const sources = new SourceCopy();
  const server = sources.server();
  try {
    await server.start();
    return await withChromium(async (chromium) => [
      {
        what: 'component, until it is seen',
        figure: await componentSeen(chromium, server, sources),
        unit: 'ms',
        target: 1_000,
        floor: await viteAlone(chromium),
      },
      {
        what: 'server, until it answers',
        figure: await serverAnswered(server, sources),
        unit: 'ms',
        target: 3_000,
        floor: median(start),
      },
    ]);
  } finally {
    await server.dispose();
    sources.remove();
  }
}

async function componentSeen(
  chromium: Chromium,
  server: BelayServer,
  sources: SourceCopy,
): Promise<number> {
  const page = await chromium.open(server, '/doctor');
  const path = 'apps/web/src/features/settings/doctor-page.tsx';
  return seen(page, (before, after) => sources.change(path, `>${before}<`, `>${after}<`), 'Doctor');
}

async function viteAlone(chromium: Chromium): Promise<number> {
  const { folder, remove } = temporaryFolder();
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const heading = (text: string) => `document.querySelector('h1').textContent = '${text}';\n`;
  const accepts = 'import.meta.hot.accept();\n';
  write('index.html', '<h1></h1><script type="module" src="/heading.js"></script>');
  write('heading.js', heading('Alone') + accepts);
  const vite = await createServer({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    server: { host: '127.0.0.1', port: 0 },
  });
  try {
    await vite.listen();
    const page = await chromium.blank();
    const connected = new Promise<void>((done) => {
      page.on('console', (message) => message.text() === '[vite] connected.' && done());
    });
    await page.goto(vite.resolvedUrls?.local[0] ?? '');
    await connected;
    return await seen(
      page,
      (_before, after) => write('heading.js', heading(after) + accepts),
      'Alone',
    );
  } finally {
    await vite.close();
    remove();
  }
}

/** Median milliseconds from writing a file until the page’s heading has the new text. */
async function seen(
  page: Page,
  change: (before: string, after: string) => void,
  heading: string,
): Promise<number> {
  const taken: number[] = [];
  await shows(page, 'h1', heading);
  for (let sample = 1; sample <= samples; sample++) {
    const before = sample === 1 ? heading : `${heading} ${sample - 1}`;
    const after = `${heading} ${sample}`;
    // Vite merges two changes in quick succession into one.
    await sleep(500);
    const shown = page.waitForFunction(hasHeading, { polling: 10 }, after);
    const begun = performance.now();
    change(before, after);
    await shown;
    taken.push(performance.now() - begun);
  }
  return median(taken);
}

/** Runs in the page. */
const hasHeading = (text: string): boolean => document.querySelector('h1')?.textContent === text;

/** Median milliseconds from writing a file until responses reflect the change. */
async function serverAnswered(server: BelayServer, sources: SourceCopy): Promise<number> {
  const path = 'apps/server/src/api/rest/monitoring.controller.ts';
  const statement = 'const ok = database && diskSpace;';
  const taken: number[] = [];
  let before = statement;
  for (let sample = 1; sample <= samples; sample++) {
    const after = `${statement} response.set('x-belay-changed', '${sample}');`;
    const begun = performance.now();
    sources.change(path, before, after);
    while ((await changeOf(server)) !== String(sample)) await sleep(10);
    taken.push(performance.now() - begun);
    before = after;
  }
  return median(taken);
}

const changeOf = (server: BelayServer): Promise<string | null> =>
  fetch(`${server.url}/health`).then(({ headers }) => headers.get('x-belay-changed'));
