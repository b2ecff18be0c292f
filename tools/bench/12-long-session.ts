import {
  type Chromium,
  lengthen,
  run,
  shows,
  start,
  type BelayServer,
  type Followed,
  type Turn,
} from '@belay/testkit';
import { isEnded } from '@belay/protocol';
import type { Page } from 'puppeteer-core';
import { frameRounds, longestFrames } from './frames.ts';
import { pageWork } from './page-work.ts';
import { idleSession, playing, withChromium, withServer } from './platform.ts';
import { median } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title = 'a session of 30,000 events in the dashboard';

const count = 30_000;
const samples = 5;

interface Load {
  calls: number;
  command(call: number): string;
}

/** The first session of the fleet. */
const fleet = 'main a[href^="/sessions/"]';
/** Eight calls per second, ten times as many as models make; and as many as the machine can run. */
const steady: Load = { calls: 100, command: (n) => `sleep 0.1; seq ${n} 999` };
const flatOut: Load = { calls: 300, command: (n) => `seq ${n} 999` };

/**
 * The floor of opening is a session of a few events. The floor of a frame is an empty page in the
 * same browser at the same time: agent, server and rendering share the machine, so a page also
 * waits for the others.
 */
export async function measure(): Promise<Row[]> {
  return withServer({}, (server) => withChromium((chromium) => measureIn(server, chromium)));
}

async function measureIn(server: BelayServer, chromium: Chromium): Promise<Row[]> {
  const short = await idleSession(server);
  const long = await longSession(server);
  const page = await chromium.open(server, '/');
  await page.waitForSelector(fleet);
  const opened = await opening(page, long.id);
  const floor = await opening(page, short.id);
  await opening(page, long.id);
  const empty = await chromium.open(server, '/icon.svg');
  short.close();
  // A second follower of the log would take processor time from the page.
  long.close();
  const goOn = async (words: string) => {
    await server.client.sessions.message(long.id, { text: 'Go on', delivery: 'steer' });
    await asks(server, long.id, words);
    await shows(page, '[aria-label="Chat"]', words);
  };
  // In sequence, because tracing costs frames.
  const [frame, floorOfFrame] = await longestFrames([page, empty], (round) =>
    goOn(`Steadily done ${round}.`),
  );
  const [busy, floorOfBusy] = await longestFrames([page, empty], (round) =>
    goOn(`Quickly done ${round}.`),
  );
  const { longest } = await pageWork(page, () => goOn('Traced.'));
  return [
    {
      what: 'open, from the click to the last event',
      figure: opened,
      unit: 'ms',
      target: 300,
      floor,
    },
    {
      what: 'longest frame, eight calls a second',
      figure: frame,
      unit: 'ms',
      target: 50,
      floor: floorOfFrame,
    },
    {
      what: 'longest frame, both cores busy with calls',
      figure: busy,
      unit: 'ms',
      target: null,
      floor: floorOfBusy,
    },
    { what: 'most work at a stretch, processor time', figure: longest, unit: 'ms', target: 50 },
  ];
}

/** A running session whose log has grown long without viewers. */
async function longSession(server: BelayServer): Promise<Followed> {
  const ask = (question: string): Turn[] => [
    { calls: [{ operation: 'ask', input: { question } }] },
  ];
  const rounds = Array.from({ length: frameRounds }, (_, index) => index + 1);
  const turns = [
    ...ask('Begin?'),
    ...rounds.flatMap((round) => [...working(steady), ...ask(`Steadily done ${round}.`)]),
    ...rounds.flatMap((round) => [...working(flatOut), ...ask(`Quickly done ${round}.`)]),
    ...working(flatOut),
    ...ask('Traced.'),
  ];
  const model = playing(server, turns);
  const budgets = { steps: turns.length };
  const session = await start(server, { task: 'Go on and on', model, budgets });
  await session.state('waiting');
  await server.end();
  lengthen(server.data, session.id, count);
  await server.start();
  session.follow();
  return session;
}

/** Turns of a model that makes ten calls at a time. */
function working({ calls, command }: Load): Turn[] {
  return Array.from({ length: calls / 10 }, (_, turn) => ({
    say: `Reply ${turn}.`,
    calls: Array.from({ length: 10 }, (__, index) => run(command(turn * 10 + index))),
  }));
}

/** Median milliseconds from the click on a row of the fleet until the chat shows the last event. */
async function opening(page: Page, id: string): Promise<number> {
  const taken: number[] = [];
  for (let sample = 0; sample <= samples; sample += 1) {
    await page.evaluate(() => document.querySelector<HTMLElement>('header a[href="/"]')?.click());
    await page.waitForSelector(fleet);
    taken.push(await page.evaluate(open, id));
  }
  return median(taken.slice(1));
}

/** Runs in the page. */
function open(id: string): Promise<number> {
  return new Promise((done) => {
    const begun = performance.now();
    const look = () => {
      const chat = document.querySelector('[aria-label="Conversation"]');
      const last = chat?.querySelector('[data-index]:last-of-type');
      const shown = chat && last && chat.scrollHeight - chat.scrollTop - chat.clientHeight < 50;
      if (!shown) return requestAnimationFrame(look);
      requestAnimationFrame(() => done(performance.now() - begun));
    };
    document.querySelector<HTMLElement>(`main a[href="/sessions/${id}"]`)?.click();
    requestAnimationFrame(look);
  });
}

/**
 * Waits for a question. Polls the server, because reading what the page shows would force a layout.
 */
async function asks(server: BelayServer, id: string, question: string): Promise<void> {
  for (;;) {
    const summary = await server.client.sessions.get(id);
    if (summary.question === question) return;
    if (isEnded(summary.state)) throw new Error(`The session ended: ${summary.reason}`);
    await new Promise((done) => setTimeout(done, 200));
  }
}
