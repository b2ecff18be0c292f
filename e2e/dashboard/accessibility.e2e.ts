import { click, fill, shows } from '@belay/testkit';
import { accessibilityFaults, describeAccessiblePages } from './accessible-pages.js';

/** One of four pages in one look; accessibility.long.e2e.ts covers all pages, panels and looks. */
describeAccessiblePages(
  {
    looks: [[1440, 900, 'light']],
    isSample: true,
  },
  ({ server, chromium }) => {
    it('asks for a token, then opens the requested page', async () => {
      const page = await chromium.open(server, '/settings', { token: 'wrong' });
      await shows(page, 'main', 'Belay is locked');
      expect(await accessibilityFaults(page)).toEqual([]);
      await fill(page, 'Or paste the token', 'guess');
      await page.keyboard.press('Enter');
      await shows(page, 'main', 'That is not a token of this server.');
      expect(await accessibilityFaults(page)).toEqual([]);
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
  },
);
