import { isEvent } from '@belay/protocol';
import type { Page } from 'puppeteer-core';
import { type BelayServer, click, Followed, run, script, start } from '@belay/testkit';

const write = (content: string) => ({
  operation: 'files.write',
  input: { path: 'a.txt', content },
});
const read = { operation: 'files.read', input: { path: 'a.txt' } };
const plan = (markdown: string) => ({ operation: 'plan.update', input: { markdown } });

/** A finished session of two steps, and the last event of the first. */
export async function startTwoSteps(
  server: BelayServer,
): Promise<{ session: Followed; early: number }> {
  const model = script(server.data, [
    {
      say: 'First step.',
      calls: [write('version one\n'), read, plan('- [ ] early'), run('echo early-print')],
    },
    {
      say: 'Second step.',
      calls: [write('version two\n'), plan('- [x] late'), run('echo late-print')],
    },
    { finish: 'Two steps.' },
  ]);
  const session = await start(server, { task: 'Take two steps', title: 'Two steps', model });
  await session.finished();
  const second = session.events.filter((event) => isEvent(event, 'say'))[1];
  const early = (second?.seq ?? 0) - 1;
  return { session, early };
}

/** Confirms the dialog and follows the session that the page opens. */
export async function confirmFork(server: BelayServer, page: Page): Promise<Followed> {
  const before = await page.evaluate(() => location.pathname);
  await click(page, 'Fork', '[role=dialog]');
  await page.waitForFunction((path) => location.pathname !== path, { polling: 100 }, before);
  const id = (await page.evaluate(() => location.pathname)).split('/')[2] ?? '';
  return new Followed(server, id);
}
