import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Chromium, describeSystem, shows, untilInPage } from '@belay/testkit';

describeSystem('attacks: another server of this machine in the same browser', (server) => {
  const chromium = new Chromium();
  const received: string[] = [];
  let thief: Server;
  let address: string;

  beforeAll(async () => {
    await chromium.start();
    thief = createServer(({ headers }, response) => {
      received.push(headers.cookie ?? '');
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>Preview</title>');
    });
    await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(thief.address() as AddressInfo).port}/`;
  });
  afterAll(async () => {
    await chromium.dispose();
    thief.closeAllConnections();
    await new Promise((resolve) => thief.close(resolve));
  });

  it('receives the cookie, and can do nothing with it', async () => {
    const page = await chromium.open(server);
    await shows(page, 'main', 'No sessions yet');
    const preview = await page.browserContext().newPage();
    await preview.goto(address);
    const cookie = received.find(Boolean) ?? '';
    // The browser does send the cookie: the protection does not depend on hiding it.
    expect(cookie).toMatch(/^belay_\d+=/);
    expect(cookie).not.toContain(server.token);
    expect(await preview.evaluate(() => localStorage.length)).toBe(0);
    const value = cookie.split('=')[1] ?? '';
    const tries: Record<string, string>[] = [
      { cookie },
      { cookie, authorization: `Bearer ${value}` },
    ];
    for (const headers of tries) {
      for (const method of ['GET', 'POST']) {
        const stolen = await fetch(`${server.url}/api/sessions`, { method, headers });
        expect(stolen.status).toBe(401);
      }
    }
    await page.reload();
    await shows(page, 'main', 'No sessions yet');
    await page.browserContext().close();
  });

  it('is not replaced by a page that sends the browser to /login with a key', async () => {
    const page = await chromium.open(server);
    await shows(page, 'main', 'No sessions yet');
    const key = () => page.evaluate(() => localStorage.getItem('belay-key'));
    const mine = await key();
    await page.goto('about:blank');
    await page.goto(`${server.url}/login#key=junk`);
    await shows(page, 'main', 'No sessions yet');
    expect(await key()).toBe(mine);
    await page.browserContext().close();
  });

  it('does not affect several tabs, a reload or a second link', async () => {
    const page = await chromium.open(server);
    await shows(page, 'main', 'No sessions yet');
    await untilInPage(page, () => location.hash === '');
    const tab = await page.browserContext().newPage();
    await tab.goto(`${server.url}/settings`);
    await shows(tab, 'main', 'Notifications');
    const { code } = await server.client.server.loginCode();
    await tab.goto(`${server.url}/settings?code=${code}`);
    await shows(tab, 'main', 'Notifications');
    // The first tab still has its key, and the link remains valid in this browser.
    await tab.goto(`${server.url}/settings?code=${code}`);
    await shows(tab, 'main', 'Notifications');
    const status = await page.evaluate(async () => {
      const key = localStorage.getItem('belay-key') ?? '';
      const answer = await fetch('/api/me', { headers: { authorization: `Bearer ${key}` } });
      return answer.status;
    });
    expect(status).toBe(200);
    const stranger = await fetch(`${server.url}/settings?code=${code}`, { redirect: 'manual' });
    expect(stranger.status).toBe(401);
    await page.browserContext().close();
  });
});
