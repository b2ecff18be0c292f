import { eventually, until } from '@belay/testing';
import type { Page } from 'puppeteer-core';
import {
  type BelayServer,
  Chromium,
  describeSystem,
  type Followed,
  run,
  script,
  start,
} from '@belay/testkit';
import { panelPlaces } from './panel-places.js';

const { terminal } = panelPlaces;

export const terminalRows = `${terminal} .xterm-rows`;
export const widthOf = (page: Page, panel: string): Promise<number> =>
  page.$eval(`section[aria-label="${panel}"]`, (element) => (element as HTMLElement).offsetWidth);
/** Waits until the width of the panel, in pixels, satisfies the condition. */
export const becomes = (
  page: Page,
  panel: string,
  isRight: (width: number) => boolean,
): Promise<unknown> =>
  until(`the right width of ${panel}`, async () => isRight(await widthOf(page, panel)), {
    state: () => widthOf(page, panel),
  });
/** Waits until exactly these panels are in front, one in each region. */
export const inFront = (page: Page, ...names: string[]): Promise<void> =>
  eventually(async () => {
    const panels = await page.$$eval('section:has(> div > [role=tablist])', (regions) =>
      regions.map((region) => region.getAttribute('aria-label')),
    );
    expect(panels).toEqual(names);
  });
/** A session that asks whether it may print 300 rows, then asks a question; and a page that shows it. */
export interface WorkbenchScene {
  readonly server: BelayServer;
  readonly page: Page;
  readonly session: Followed;
}

export function describeWorkbench(title: string, tests: (scene: WorkbenchScene) => void): void {
  describeSystem(title, (server) => {
    const chromium = new Chromium();
    let page: Page;
    let session: Followed;

    beforeAll(async () => {
      await chromium.start();
      const print = `seq -f row-%g. 17; echo see ${server.url}/settings?section=shortcuts; seq -f row-%g. 18 300`;
      const long = 'Yes, but only if the letters are larger than they are now. '.repeat(4).trim();
      const asks = {
        operation: 'ask',
        input: { question: 'Is it legible?', options: [long, 'No'] },
      };
      const model = script(server.data, [
        { calls: [run(print)] },
        { say: 'Printed.', calls: [asks] },
      ]);
      session = await start(server, { task: 'Print', title: 'Prints', model, approvals: 'ask' });
      page = await chromium.open(server, `/sessions/${session.id}`);
    });
    afterAll(async () => {
      session.close();
      await chromium.dispose();
    });
    afterEach(() => expect(chromium.complaints).toEqual([]));

    tests({
      server,
      get page() {
        return page;
      },
      get session() {
        return session;
      },
    });
  });
}
