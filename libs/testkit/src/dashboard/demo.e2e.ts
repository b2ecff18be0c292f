import { Chromium, press, shows } from '../chromium.js';
import { describeSystem } from '../describe-system.js';
import { Followed } from '../follow.js';

describeSystem('the demo in the dashboard', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());

  it('is offered where nothing is yet; all panels move to the end, and a reload loses and repeats nothing', async () => {
    const page = await chromium.open(server);
    await press(page, 'Watch the demo');
    await page.waitForFunction(() => location.pathname.startsWith('/sessions/'), { polling: 100 });
    const id = new URL(page.url()).pathname.split('/')[2] ?? '';
    const session = new Followed(server, id);
    // The agent may be done before a slow page shows its first output.
    await shows(page, '[aria-label="Terminal"]', '/workspace $');
    await page.reload();
    await shows(page, '[aria-label="Terminal"]', '/workspace $');
    await session.finished();
    await shows(page, '[aria-label="Terminal"]', '200 OK');
    await shows(page, '[aria-label="Code"] .view-lines', /return/);
    await shows(page, '[aria-label="Plan"]', /\w/);
    await page.waitForFunction(
      () => {
        const image = document.querySelector<HTMLImageElement>('[aria-label="Browser"] img');
        return image?.complete && image.naturalWidth > 0;
      },
      { polling: 100 },
    );
    await shows(page, 'header', /finished/i);
    expect(session.events.map((event) => event.seq)).toEqual(
      session.events.map((_, index) => index + 1),
    );
    // Each say of the agent is in the chat once, although the page was loaded twice.
    const said = session.events.filter((event) => event.action === 'say' && event.args.text);
    const chat = await page.$eval(
      '[aria-label="Chat"]',
      (element) => (element as HTMLElement).innerText,
    );
    const last = String(said.at(-1)?.args.text).split(/[*`_\n]/)[0] ?? '';
    expect(chat.split(last)).toHaveLength(2);
    // The sandbox's own browser went nowhere by itself.
    expect(session.events.filter((event) => event.action === 'egress')).toEqual([]);
    expect(chromium.complaints).toEqual([]);
    session.close();
  });
});
