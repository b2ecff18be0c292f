import {
  answered,
  Chromium,
  click,
  describeSystem,
  Followed,
  shows,
  textOf,
  untilInPage,
} from '@belay/testkit';

describeSystem('the demo in the dashboard', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());
  afterEach(() => chromium.closePages());

  it('is offered on an empty fleet; all panels follow it to its end, and a reload loses and repeats nothing', async () => {
    const page = await chromium.open(server);
    await click(page, 'Watch the demo');
    await untilInPage(page, () => location.pathname.startsWith('/sessions/'));
    const id = (await page.evaluate(() => location.pathname)).split('/')[2] ?? '';
    const session = new Followed(server, id);
    // On a slow page, the agent may be done before its first output is shown.
    await shows(page, '[aria-label="Terminal"]', '/workspace $');
    // A module whose import is cut off by the reload would count as an error of the page.
    await answered(page);
    await page.reload();
    await shows(page, '[aria-label="Terminal"]', '/workspace $');
    await session.finished();
    // The panel follows to the terminal of the server that the agent starts.
    await shows(page, '[aria-label="Terminal"]', 'GET / 200');
    await click(page, 'main', '[aria-label="Terminal"]');
    await shows(page, '[aria-label="Terminal"]', '200 OK');
    await shows(page, '[aria-label="Code"] .view-lines', /return/);
    await shows(page, '[aria-label="Plan"]', /\w/);
    await untilInPage(page, () => {
      const image = document.querySelector<HTMLImageElement>('[aria-label="Browser"] img');
      return image?.complete && image.naturalWidth > 0;
    });
    await shows(page, 'header', /finished/i);
    expect(session.events.map((event) => event.seq)).toEqual(
      session.events.map((_, index) => index + 1),
    );
    // The chat shows each message of the agent once, although the page was loaded twice.
    const said = session.events.filter((event) => event.action === 'say' && event.args.text);
    const last = String(said.at(-1)?.args.text).split(/[*`_\n]/)[0] ?? '';
    await shows(page, '[aria-label="Chat"]', last);
    const chat = await textOf(page, '[aria-label="Chat"]');
    expect(chat.split(last)).toHaveLength(2);
    // The sandbox’s browser opened no address on its own.
    expect(session.events.filter((event) => event.action === 'egress')).toEqual([]);
    expect(chromium.complaints).toEqual([]);
    session.close();
  });
});
