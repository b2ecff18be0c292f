import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFact } from '@belay/protocol';
import type { Page } from 'puppeteer-core';
import { Chromium, hides, press, pressOn, shows, textOf, until } from '../chromium.js';
import { describeSystem } from '../describe-system.js';
import { Followed, start } from '../follow.js';
import { run, script } from '../script.js';

const chat = '[aria-label="Chat"]';
const screen = '[aria-label="Terminal"] .xterm-rows';
const file = '[aria-label="Code"] .view-lines';

const write = (content: string) => ({
  operation: 'files.write',
  input: { path: 'a.txt', content },
});
const plan = (markdown: string) => ({ operation: 'plan.update', input: { markdown } });

describeSystem('the timeline', (server) => {
  const chromium = new Chromium();
  let session: Followed;
  let page: Page;
  /** The end of the first step. */
  let early = 0;

  beforeAll(async () => {
    await chromium.start();
    const model = script(server.data, [
      {
        say: 'First step.',
        calls: [write('version one\n'), plan('- [ ] early'), run('echo early-print')],
      },
      {
        say: 'Second step.',
        calls: [write('version two\n'), plan('- [x] late'), run('echo late-print')],
      },
      { finish: 'Two steps.' },
    ]);
    session = await start(server, { task: 'Take two steps', title: 'Two steps', model });
    await session.finished();
    const second = session.events.filter((event) => isFact(event, 'say'))[1];
    early = (second?.seq ?? 0) - 1;
  });
  afterAll(async () => {
    session.close();
    await chromium.dispose();
  });
  beforeEach(async () => {
    page = await chromium.open(server, `/sessions/${session.id}`);
  });
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('goes back and all panels are in step; it plays to the end again', async () => {
    await shows(page, screen, 'late-print');
    await page.goto(`${server.url}/sessions/${session.id}?at=${early}`);
    await shows(page, chat, `Showing event ${early} of`);
    await shows(page, chat, 'First step.');
    await shows(page, screen, 'early-print');
    await shows(page, '[aria-label="Plan"]', 'early');
    await shows(page, file, 'version one');
    for (const [panel, late] of [
      [chat, 'Second step.'],
      [screen, 'late-print'],
      ['[aria-label="Plan"]', 'late'],
    ] as const)
      expect(await textOf(page, panel)).not.toContain(late);

    await page.focus('[aria-label="Moment of the session"]');
    await page.keyboard.press('Home');
    await shows(page, chat, 'Showing event 1 of');
    await hides(page, chat, 'First step.');
    await page.select('[aria-label="Speed"]', '30');
    await press(page, 'Play from here');
    await shows(page, chat, 'Second step.');
    await shows(page, screen, 'late-print');
    await shows(page, file, 'version two');
    await pressOn(page, 'footer button[aria-pressed]');
    await hides(page, chat, 'Showing event');
  });

  it('forks at a moment: the new session has the files and words of then', async () => {
    await page.goto(`${server.url}/sessions/${session.id}?at=${early}`);
    await press(page, 'Fork here');
    await page.waitForFunction(
      (id) => !location.pathname.endsWith(id),
      { polling: 100 },
      session.id,
    );
    const id = new URL(page.url()).pathname.split('/')[2] ?? '';
    const forked = new Followed(server, id);
    await forked.finished();
    await shows(page, chat, 'First step.');
    await shows(page, 'header', 'finished');
    expect((await server.client.sessions.get(id)).forkedFrom).toEqual({
      session: session.id,
      seq: early,
    });
    // It played the second step by itself.
    await shows(page, file, 'version two');
    forked.close();
  });

  it('is shared as one file that plays without any request', async () => {
    await press(page, 'Share as one file');
    const path = join(chromium.downloads, 'two-steps.html');
    await session.until(() => existsSync(path), 'the file');
    const shared = await chromium.openFile(path);
    await shows(shared, chat, 'Second step.');
    await shows(shared, screen, 'late-print');
    await shows(shared, 'header', 'a recording');
    await press(shared, 'Step back');
    await press(shared, 'Step back');
    await shows(shared, chat, 'Showing event');
    await hides(shared, chat, 'Two steps.');
    expect(await shared.$('#message')).toBeNull();
  });

  it('saves a terminal as asciicast v3', async () => {
    await shows(page, screen, 'late-print');
    await press(page, 'Save as a recording (asciicast)');
    const found = () => readdirSync(chromium.downloads).find((name) => name.endsWith('.cast'));
    const name = await session.until(
      () => existsSync(chromium.downloads) && found(),
      'the recording',
    );
    const [head, ...lines] = readFileSync(join(chromium.downloads, name), 'utf8')
      .trim()
      .split('\n');
    expect(JSON.parse(head ?? '')).toMatchObject({
      version: 3,
      term: { cols: expect.any(Number), rows: expect.any(Number) },
    });
    const events = lines.map((line) => JSON.parse(line) as [number, string, string]);
    expect(events.every(([after, kind]) => after >= 0 && /^[oimrx]$/.test(kind))).toBe(true);
    const printed = events.filter(([, kind]) => kind === 'o').map(([, , text]) => text);
    expect(printed.join('')).toContain('early-print');
  });

  it('rewinds: files and conversation are as they were, after a look at what that undoes', async () => {
    await page.goto(`${server.url}/sessions/${session.id}?at=${early}`);
    await press(page, 'Rewind to here…');
    await shows(page, '[role=dialog]', 'a.txt');
    await press(page, 'Rewind', '[role=dialog]');
    await session.event((event) => event.action === 'rewind');
    await hides(page, chat, 'Showing event');
    const read = () => server.client.sessions.call(session.id, 'files.read', { path: 'a.txt' });
    expect(await read()).toMatchObject({ content: expect.stringContaining('version one') });
    await until(page, () => document.body.innerText.includes('Rewound'));
  });
});
