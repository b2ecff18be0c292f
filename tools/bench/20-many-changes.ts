import { run, shows, start, type BelayServer, type Chromium, type Followed } from '@belay/testkit';
import type { Page } from 'puppeteer-core';
import { frameRounds, longestFrames } from './frames.ts';
import { pageWork, type PageWork } from './page-work.ts';
import { playing, withChromium, withServer } from './platform.ts';
import { median } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title = 'the changes of 2,000 files in the dashboard';

const samples = 5;
const screens = 300;

/**
 * The floor of opening is one changed file; that of a frame is an empty page in the same browser at
 * the same time.
 */
export async function measure(): Promise<Row[]> {
  return withServer({}, (server) => withChromium((chromium) => measureIn(server, chromium)));
}

async function measureIn(server: BelayServer, chromium: Chromium): Promise<Row[]> {
  const one = await changed(server, 1);
  const many = await changed(server, 2_000);
  const page = await chromium.open(server, '/');
  const floor = await opening(page, `${server.url}/sessions/${one.id}`);
  const before = await memory(page);
  const opened = await opening(page, `${server.url}/sessions/${many.id}`);
  const empty = await chromium.open(server, '/icon.svg');
  const scroll = () => page.evaluate(scrollThrough, screens);
  // In sequence, because tracing costs frames.
  const [frame, floorOfFrame] = await longestFrames([page, empty], scroll);
  const work = await scrollWork(page, scroll);
  const grown = (await memory(page)) - before;
  return [
    {
      what: 'open, from the click to the first file',
      figure: opened,
      unit: 'ms',
      target: 500,
      floor,
    },
    {
      what: 'longest frame while it scrolls',
      figure: frame,
      unit: 'ms',
      target: null,
      floor: floorOfFrame,
    },
    {
      what: 'most work at a stretch, processor time',
      figure: work.longest,
      unit: 'ms',
      target: 50,
    },
    {
      what: 'work for each screen, processor time',
      figure: work.total / screens,
      unit: 'ms',
      target: 22,
    },
    { what: 'memory of the page', figure: grown, unit: 'MB', target: 60 },
  ];
}

/** A finished session that wrote this many files of 30 lines. */
async function changed(server: BelayServer, count: number): Promise<Followed> {
  const line = `export const line%.0f: string = 'of file $i'; // a line of code`;
  const write = `for i in $(seq -w ${count}); do seq -f "${line}" 30 > $i.ts; done`;
  const turns = [{ calls: [run(write)] }, { finish: 'Written.' }];
  const session = await start(server, { task: 'Write', model: playing(server, turns) });
  await session.finished();
  session.close();
  return session;
}

/** Median milliseconds from the click on the tab until the lines of the first file are rendered. */
async function opening(page: Page, address: string): Promise<number> {
  const taken: number[] = [];
  for (let sample = 0; sample <= samples; sample += 1) {
    await page.goto(address);
    await shows(page, '[aria-label="Chat"]', 'Written.');
    taken.push(await page.evaluate(open));
  }
  return median(taken.slice(1));
}

/** Runs in the page. */
function open(): Promise<number> {
  return new Promise((done) => {
    const begun = performance.now();
    const look = () => {
      const lines = document.querySelector('[aria-label="Changes"] [aria-label^="Lines of"]');
      if (!lines) return requestAnimationFrame(look);
      requestAnimationFrame(() => done(performance.now() - begun));
    };
    document.querySelector<HTMLElement>('#tab-changes')?.click();
    requestAnimationFrame(look);
  });
}

/**
 * The longest task, and all work for each screen: medians of some rounds, because a garbage
 * collection makes one task of a round longer.
 */
async function scrollWork(page: Page, scroll: () => Promise<void>): Promise<PageWork> {
  const found: PageWork[] = [];
  for (let round = 0; round < frameRounds; round += 1) found.push(await pageWork(page, scroll));
  return {
    longest: median(found.map(({ longest }) => longest)),
    total: median(found.map(({ total }) => total)),
  };
}

/** Runs in the page: scrolls from the top by one screen per frame. */
function scrollThrough(frames: number): Promise<void> {
  return new Promise((done) => {
    const diff = document.querySelector('[aria-label="Changes"] [aria-label="Diff"]');
    diff?.scrollTo(0, 0);
    const next = () => {
      diff?.scrollBy(0, diff.clientHeight);
      frames -= 1;
      if (frames > 0) requestAnimationFrame(next);
      else done();
    };
    requestAnimationFrame(next);
  });
}

/** JavaScript memory after a garbage collection, in MB. */
async function memory(page: Page): Promise<number> {
  const session = await page.createCDPSession();
  await session.send('HeapProfiler.collectGarbage');
  await session.detach();
  const { JSHeapUsedSize = 0 } = await page.metrics();
  return JSHeapUsedSize / 1e6;
}
