import { chord, click, clickOn, shows, untilInPage } from '@belay/testkit';
import { accessibilityFaults, describeAccessiblePages } from './accessible-pages.js';

describeAccessiblePages(
  {
    looks: [
      [1440, 900, 'light', 'dark'],
      [390, 844, 'light', 'dark'],
    ],
  },
  ({ server, chromium, ended }) => {
    it('is met in every panel, in a menu, in the palette and in a question', async () => {
      const page = await chromium.open(server, `/sessions/${ended()}`);
      for (const panel of ['changes', 'usage', 'log']) {
        await clickOn(page, `#tab-${panel}`);
        await page.waitForSelector(`[role=tabpanel][aria-labelledby=tab-${panel}] *`);
        expect({ panel, faults: await accessibilityFaults(page) }).toEqual({ panel, faults: [] });
      }
      await page.goto(server.url);
      await click(page, 'More for Show everything');
      await shows(page, '[role=menu]', 'Archive');
      expect(await accessibilityFaults(page)).toEqual([]);
      await click(page, 'Delete…');
      await shows(page, '[role=dialog]', 'This cannot be undone.');
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await untilInPage(page, () => !document.querySelector('[role=dialog]'));
      await chord(page, 'Control', 'k');
      await shows(page, '[role=dialog]', 'New session');
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.close();
    });
  },
);
