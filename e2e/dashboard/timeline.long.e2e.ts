import { readFileSync } from 'node:fs';
import { isEvent } from '@belay/protocol';
import {
  choose,
  Chromium,
  click,
  describeSystem,
  fill,
  type Followed,
  shows,
  textOf,
} from '@belay/testkit';
import { confirmFork, startTwoSteps } from './two-steps.js';

const chat = '[aria-label="Chat"]';
const screen = '[aria-label="Terminal"] .xterm-rows';

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
});
