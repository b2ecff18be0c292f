import { readFileSync } from 'node:fs';
import { isEvent } from '@belay/protocol';
import { eventually } from '@belay/testing';
import {
  choose,
  Chromium,
  click,
  clickOn,
  describeSystem,
  fill,
  focusOn,
  type Followed,
  hides,
  runFromPalette,
  shows,
  textOf,
  untilInPage,
} from '@belay/testkit';
import { confirmFork, startTwoSteps } from './two-steps.js';

const chat = '[aria-label="Chat"]';
const screen = '[aria-label="Terminal"] .xterm-rows';
const file = '[aria-label="Code"] .view-lines';

describeSystem('moments of a session', (server) => {
  const chromium = new Chromium();
  let session: Followed;
  /** The last event of the first step. */
  let early = 0;

  beforeAll(async () => {
    await chromium.start();
    ({ session, early } = await startTwoSteps(server));
  });
  afterAll(async () => {
    session.close();
    await chromium.dispose();
  });
  afterEach(() => chromium.closePages());
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('shows durations as of then, whatever the clock says now', async () => {
    const later = await chromium.open(server);
    await later.evaluateOnNewDocument(() => {
      const now = Date.now.bind(Date);
      Date.now = () => now() + 30 * 3_600_000;
    });
    for (const at of ['', `?at=${early}`]) {
      await later.goto(`${server.url}/sessions/${session.id}${at}`);
      await shows(later, chat, 'First step.');
      await shows(later, 'header', /step 3/);
      expect(await textOf(later, 'header')).not.toMatch(/1d0/);
      expect(await textOf(later, chat)).not.toMatch(/1d0/);
    }
    await later.browserContext().close();
  });

  it('saves a terminal as asciicast v3', async () => {
    const page = await chromium.open(server, `/sessions/${session.id}`);
    await shows(page, screen, 'late-print');
    await click(page, 'Save as a recording (asciicast)');
    const path = await chromium.downloaded(/\.cast$/);
    const [head, ...lines] = readFileSync(path, 'utf8').trim().split('\n');
    expect(JSON.parse(head ?? '')).toMatchObject({
      version: 3,
      term: { cols: expect.any(Number), rows: expect.any(Number) },
    });
    const events = lines.map((line) => JSON.parse(line) as [number, string, string]);
    expect(events.every(([after, kind]) => after >= 0 && /^[oimrx]$/.test(kind))).toBe(true);
    const printed = events.filter(([, kind]) => kind === 'o').map(([, , text]) => text);
    expect(printed.join('')).toContain('early-print');
  });

  it('forks with another message and model', async () => {
    const page = await chromium.open(server, `/sessions/${session.id}?at=${early}`);
    await click(page, 'Fork here…');
    await fill(page, 'Message', 'Go another way.');
    await choose(page, '[role=dialog] select', 'scripted:example:ask-first');
    const other = await confirmFork(server, page);
    const sent = await other.event((event) => isEvent(event, 'message'));
    expect(sent.args.text).toBe('Go another way.');
    await shows(page, chat, 'Go another way.');
    // The second turn of the chosen model’s script.
    await shows(page, chat, 'In which unit should the guide show distances?');
    await server.client.sessions.stop(other.id);
    other.close();
  });

  it('is exported as one file that plays without any request', async () => {
    const page = await chromium.open(server, `/sessions/${session.id}`);
    await click(page, 'Share');
    await click(page, 'Save the file');
    const path = await chromium.downloaded('two-steps.html');
    const shared = await chromium.openFile(path);
    await shows(shared, chat, 'Second step.');
    await shows(shared, screen, 'late-print');
    await shows(shared, 'header', 'recording');
    await click(shared, 'Step back');
    await click(shared, 'Step back');
    await shows(shared, chat, 'Showing event');
    await hides(shared, chat, 'Two steps.');
    expect(await shared.$('#message')).toBeNull();
    // The workspace was empty, so the first commit has no parent.
    await focusOn(shared, '[aria-label="Moment of the session"]');
    await shared.keyboard.press('Home');
    for (let at = 1; at < early; at += 1) await shared.keyboard.press('ArrowRight');
    await shows(shared, chat, `Showing event ${early} of`);
    await shows(shared, file, 'version one');
    await hides(shared, file, 'version two');
  });

  it('a link leads to its moment; a viewer watches with another until it is revoked', async () => {
    const page = await chromium.open(server, `/sessions/${session.id}`);
    const context = page.browserContext();
    await context.overridePermissions(server.url, ['clipboard-read', 'clipboard-sanitized-write']);
    await page.goto(`${server.url}/sessions/${session.id}?at=${early}`);
    await shows(page, chat, 'Showing event');
    await runFromPalette(page, 'Copy a link');
    await shows(page, '[aria-live=polite]', 'Link copied.');
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(link).toBe(`${server.url}/sessions/${session.id}?at=${early}`);

    await runFromPalette(page, 'Share this session');
    await fill(page, 'Recipient', 'Ada');
    await click(page, 'Create link', '[role=dialog]');
    await shows(page, '[role=dialog] code', 'token=');
    const token = new URL(await textOf(page, '[role=dialog] code')).searchParams.get('token') ?? '';
    const viewer = await chromium.open(server, `/sessions/${session.id}`, { token });
    await shows(viewer, chat, 'Two steps.');
    await shows(viewer, 'header', 'view only');
    await click(page, 'Revoke the link for Ada');
    await hides(page, '[role=dialog]', 'Ada');
    await viewer.reload();
    await shows(viewer, 'main', 'Log in with the address');
    await viewer.browserContext().close();
  });

  it('forks at a moment: the new session has the files and conversation of that moment', async () => {
    const page = await chromium.open(server, `/sessions/${session.id}?at=${early}`);
    await click(page, 'Fork here…');
    const forked = await confirmFork(server, page);
    await forked.finished();
    await shows(page, chat, 'First step.');
    await shows(page, 'header', 'finished');
    expect((await server.client.sessions.get(forked.id)).forkedFrom).toEqual({
      session: session.id,
      seq: early,
    });
    // The fork ran the second step itself.
    await shows(page, file, 'version two');
    forked.close();
  });

  it('rewinds files and conversation after a preview of what is undone, undoes that, and then one step of several', async () => {
    const read = async () =>
      (await server.client.sessions.call(session.id, 'files.read', { path: 'a.txt' })).content;
    const page = await chromium.open(server, `/sessions/${session.id}?at=${early}`);
    await click(page, 'Rewind to here…');
    await shows(page, '[role=dialog]', 'a.txt');
    await click(page, 'Rewind', '[role=dialog]');
    await session.event((event) => event.action === 'rewind');
    await hides(page, chat, 'Showing event');
    await eventually(async () => expect(await read()).toContain('version one'));
    await untilInPage(page, () => document.body.innerText.includes('Rewound'));
    await shows(page, chat, /\d+ entries undone by a rewind/);
    await click(page, 'Undo…', chat);
    await click(page, 'Rewind', '[role=dialog]');
    await eventually(async () => expect(await read()).not.toContain('version one'));
    await clickOn(page, '#tab-changes');
    const changes = '[aria-label="Changes"]';
    const { steps } = await server.client.sessions.call(session.id, 'workspace.log', {});
    const written = steps.find(({ message }) => message.includes('files.write'));
    await choose(page, `${changes} [aria-label="Which changes"]`, written?.call ?? '');
    await click(page, 'Undo this step…', changes);
    await click(page, 'Undo', '[role=dialog]');
    await eventually(async () => expect(await read()).toContain('version one'));
    await untilInPage(page, () => !document.body.innerText.includes('Undo this step…'));
  });
});
