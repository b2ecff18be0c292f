import { createRequire } from 'node:module';
import { mostWork } from './page-work.mjs';
import { idleSession, playing, withServer } from './platform.mjs';
import { median } from './statistics.mjs';

const require = createRequire(import.meta.url);
const { Chromium, run, shows, start } = require('../../libs/testkit');
const { lengthen } = require('../../libs/testkit/dist/long-log.js');

export const title = 'a session of 30,000 events in the dashboard';

const count = 30_000;
const samples = 5;
/** The first of the sessions in the fleet. */
const fleet = 'main a[href^="/sessions/"]';
/** Eight calls a second, ten times as fast as models ask for them; and as fast as the machine can. */
const steady = { calls: 100, command: (n) => `sleep 0.1; seq ${n} 999` };
const flatOut = { calls: 300, command: (n) => `seq ${n} 999` };

/**
 * The floor of opening is a session of a few events. That of a frame is an empty page in the same browser in the same
 * seconds: agent, server and the drawing of pages share the machine, and what it waits for too is not the page's own.
 */
export async function measure() {
  return withServer({}, async (server) => {
    const chromium = new Chromium();
    await chromium.start();
    try {
      return await measureIn(server, chromium);
    } finally {
      await chromium.dispose();
    }
  });
}

async function measureIn(server, chromium) {
  const short = await idleSession(server);
  const long = await longSession(server);
  const page = await chromium.open(server, '/');
  await page.waitForSelector(fleet);
  const opened = await opening(page, long.id);
  const floor = await opening(page, short.id);
  await opening(page, long.id);
  const empty = await chromium.open(server, '/icon.svg');
  short.close();
  // Whoever else follows the log would take processor time from the page.
  long.close();
  const goOn = (words) => async () => {
    await server.client.sessions.message(long.id, { text: 'Go on', delivery: 'steer' });
    await asks(server, long.id, words);
    await shows(page, '[aria-label="Chat"]', words);
  };
  // One after the other: a trace costs frames.
  const [frame, floorOfFrame] = await longestFrames([page, empty], goOn('Steadily done.'));
  const [busy, floorOfBusy] = await longestFrames([page, empty], goOn('Quickly done.'));
  const work = await mostWork(page, goOn('Traced.'));
  return [
    {
      what: 'open, from the press to the last event',
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
    { what: 'most work at a stretch, processor time', figure: work, unit: 'ms', target: 50 },
  ];
}

/** A session at work whose log has grown long while nobody looked. */
async function longSession(server) {
  const ask = (question) => [{ calls: [{ operation: 'ask', input: { question } }] }];
  const turns = [
    ...ask('Begin?'),
    ...working(steady),
    ...ask('Steadily done.'),
    ...working(flatOut),
    ...ask('Quickly done.'),
    ...working(flatOut),
    ...ask('Traced.'),
  ];
  const session = await start(server, { task: 'Go on and on', model: playing(server, turns) });
  await session.state('waiting');
  await server.end();
  lengthen(server.data, session.id, count);
  await server.start();
  session.follow();
  return session;
}

/** Turns of a model that asks for ten calls at a time. */
function working({ calls, command }) {
  return Array.from({ length: calls / 10 }, (_, turn) => ({
    say: `Reply ${turn}.`,
    calls: Array.from({ length: 10 }, (__, index) => run(command(turn * 10 + index))),
  }));
}

/** From the press on a row of the fleet until the last event stands in the chat; the median, in milliseconds. */
async function opening(page, id) {
  const taken = [];
  for (let sample = 0; sample <= samples; sample += 1) {
    await page.evaluate(() => document.querySelector('header a[href="/"]').click());
    await page.waitForSelector(fleet);
    taken.push(await page.evaluate(open, id));
  }
  return median(taken.slice(1));
}

/** In the page. */
function open(id) {
  return new Promise((done) => {
    const begun = performance.now();
    const look = () => {
      const chat = document.querySelector('[aria-label="Conversation"]');
      const last = chat?.querySelector('[data-index]:last-of-type');
      const shown = last && chat.scrollHeight - chat.scrollTop - chat.clientHeight < 50;
      if (!shown) return requestAnimationFrame(look);
      requestAnimationFrame(() => done(performance.now() - begun));
    };
    document.querySelector(`main a[href="/sessions/${id}"]`).click();
    requestAnimationFrame(look);
  });
}

/** Waits for a question. Asks the server, not the page: to read what a page shows has it laid out once more. */
async function asks(server, id, question) {
  for (;;) {
    const summary = await server.client.sessions.get(id);
    if (summary.question === question) return;
    if (summary.state === 'failed') throw new Error(`The session failed: ${summary.reason}`);
    await new Promise((done) => setTimeout(done, 200));
  }
}

/** The longest time between two frames of each page while `work` is done, in whole milliseconds: a screen's interval is 16.7. */
async function longestFrames(pages, work) {
  for (const page of pages) await page.evaluate(watchFrames);
  await work();
  return Promise.all(pages.map((page) => page.evaluate(() => window.longestFrame())));
}

/** In the page. */
function watchFrames() {
  let longest = 0;
  let last;
  let on = true;
  const next = (now) => {
    if (last !== undefined) longest = Math.max(longest, now - last);
    last = now;
    if (on) requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
  window.longestFrame = () => {
    on = false;
    return last === undefined ? Infinity : Math.round(longest);
  };
}
