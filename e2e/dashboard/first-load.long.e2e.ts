import { Chromium, click, describeSystem, shows } from '@belay/testkit';

describeSystem('the first load', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());

  it('is repeated when its script does not arrive, and says so when it gives up', async () => {
    const page = await chromium.open(server);
    let failures = 1;
    await page.setCacheEnabled(false);
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      const isHit = failures > 0 && /\/assets\/index-.*\.js$/.test(request.url());
      if (isHit) failures -= 1;
      void (isHit ? request.abort('internetdisconnected') : request.continue());
    });
    await page.reload();
    await shows(page, 'main', 'Watch the demo');
    expect(failures).toBe(0);

    failures = Infinity;
    await page.reload();
    await shows(page, 'main', 'Belay could not be loaded');
    failures = 0;
    await click(page, 'Try again');
    await shows(page, 'main', 'Watch the demo');
  });
});
