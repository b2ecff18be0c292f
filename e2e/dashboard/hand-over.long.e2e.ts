import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { isEvent } from '@belay/protocol';
import { eventually } from '@belay/testing';
import type { Page } from 'puppeteer-core';
import {
  Chromium,
  click,
  clickOn,
  describeSystem,
  fill,
  type Followed,
  hasFocus,
  hides,
  repositoryRoot,
  run,
  script,
  shows,
  start,
  untilInPage,
} from '@belay/testkit';

const chat = '[aria-label="Chat"]';
const changes = '[aria-label="Changes"]';
const ask = (question: string) => ({ operation: 'ask', input: { question } });
const write = (path: string, content: string) => ({
  operation: 'files.write',
  input: { path, content },
});
const foreign = write('docs/größe 日本.md', 'Wie groß?\n');
/** Waits until the message box has this text. */
const holds = (page: Page, text: string): Promise<void> =>
  eventually(async () => {
    const box = await page.$eval('#message', (element) => (element as HTMLTextAreaElement).value);
    expect(box).toBe(text);
  });

describeSystem('input of the user', (server) => {
  const chromium = new Chromium();
  let page: Page;
  let session: Followed;

  beforeAll(async () => {
    await chromium.start();
    const model = script(server.data, [
      { calls: [ask('What shall I look at?')] },
      { expect: 'Look at these', calls: [run('cat attachments/notes.txt')] },
      {
        expect: 'words-of-the-notes',
        calls: [write('AGENTS.md', 'Be brief.'), write('a.txt', 'first\n'), ask('Is it well?')],
      },
      { expect: 'Not yet', finish: 'It is b now.' },
    ]);
    session = await start(server, { task: 'Look', title: 'Looks', model });
    page = await chromium.open(server, `/sessions/${session.id}`);
  });
  afterAll(async () => {
    session.close();
    await chromium.dispose();
  });
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('a terminal can be used before the agent has one', async () => {
    const terminal = '[aria-label="Terminal"]';
    await shows(page, chat, 'What shall I look at?');
    await clickOn(page, '#tab-terminal');
    await click(page, 'Open a terminal', terminal);
    await click(page, 'Take over', terminal);
    await shows(page, terminal, 'You’re in control');
    await hasFocus(page, `${terminal} textarea`);
    await page.keyboard.type('echo mine-$((6*7))\n');
    await shows(page, `${terminal} .xterm-rows`, 'mine-42');
    await click(page, 'Hand back', terminal);
    await shows(page, terminal, 'Agent in control');
    // The replay also shows what the user typed.
    const back = await session.event(
      (event) =>
        isEvent(event, 'terminal') && event.args.change === 'held' && event.args.holder === 'agent',
    );
    await page.goto(`${server.url}/sessions/${session.id}?at=${back.seq}&panel=terminal`);
    await shows(page, chat, `Showing event ${back.seq}`);
    await shows(page, `${terminal} .xterm-rows`, 'mine-42');
    await page.goto(`${server.url}/sessions/${session.id}`);
  });

  it('an attached file is put into the workspace, and an image is sent with the message', async () => {
    const notes = join(server.data, 'notes.txt');
    const picture = join(repositoryRoot, 'docs/images/welcome.png');
    writeFileSync(notes, 'words-of-the-notes\n');
    await shows(page, chat, 'What shall I look at?');
    const [chooser] = await Promise.all([
      page.waitForFileChooser(),
      click(page, 'Attach files', chat),
    ]);
    const wide = join(server.data, 'wide.png');
    writeFileSync(wide, png(3_136, 20));
    await chooser.accept([notes, picture, wide]);
    await shows(page, `${chat} form`, 'wide.png');
    await fill(page, 'Message to the agent', 'Look at these.');
    await click(page, 'Send', chat);
    const sent = await session.event((event) => isEvent(event, 'message'));
    if (!isEvent(sent, 'message')) throw new Error('It is not a message.');
    expect(sent.args.text).toBe('Look at these.\n@attachments/notes.txt');
    const [image = '', shrunk = ''] = sent.args.images ?? [];
    const kept = await server.client.sessions.blob(session.id, image);
    expect(Buffer.from(kept).equals(readFileSync(picture))).toBe(true);
    const small = Buffer.from(await server.client.sessions.blob(session.id, shrunk));
    const size = small.indexOf(Buffer.from('ffc0', 'hex')) + 5;
    expect([small.readUInt16BE(size), small.readUInt16BE(size + 2)]).toEqual([10, 1_568]);
    await untilInPage(page, () => {
      const shown = document.querySelector<HTMLImageElement>('[aria-label="Chat"] img');
      return shown?.complete && shown.naturalWidth > 0;
    });
    // The script continues only if the agent could read the file.
    await shows(page, chat, 'Is it well?');
  });

  it('`@` completes a file, `/` a command', async () => {
    await fill(page, 'Message to the agent', 'See @note');
    await shows(page, '[role=listbox]', '@attachments/notes.txt');
    await page.keyboard.press('Enter');
    await holds(page, 'See @attachments/notes.txt ');
    await fill(page, 'Message to the agent', '/del');
    await shows(page, '[role=listbox]', 'Run after 2 s unless stopped');
    await page.keyboard.press('Enter');
    await holds(page, '/delay ');
    await page.keyboard.press('Enter');
    await session.event((event) => isEvent(event, 'change') && event.args.approvals === 'delay');
    await holds(page, '');
  });

  it('approvals, network and model are shown in the header and changed there', async () => {
    await click(page, 'Approvals: After 2 s', 'header');
    await click(page, 'Ask before commands and network', '[role=menu]');
    await session.event((event) => isEvent(event, 'change') && event.args.approvals === 'ask');
    await shows(page, 'header', /\bAsk\b/);
    await clickOn(page, 'header [aria-label^="Network: "]');
    await click(page, 'No network', '[role=menu]');
    await session.event(
      (event) => isEvent(event, 'change') && event.args.egress?.profile === 'none',
    );
    await page.waitForSelector('header [aria-label="Network: No network"]');

    const { model } = await server.client.sessions.get(session.id);
    await clickOn(page, 'header [aria-label^="Model: "]');
    await click(page, 'Change a guide, asking first', '[role=menu]');
    const demo = 'scripted:example:ask-first';
    await session.event((event) => isEvent(event, 'change') && event.args.model === demo);
    await page.waitForSelector('header [aria-label="Model: ask-first"]');
    await server.client.sessions.change(session.id, { model });
  });

  it('guidance of the workspace applies once the user has read and trusted it', async () => {
    await shows(page, 'main', 'has its own guidance (AGENTS.md)');
    expect(session.events.some((event) => isEvent(event, 'guidance'))).toBe(false);
    await click(page, 'Review…');
    await shows(page, '[role=dialog]', 'Be brief.');
    await click(page, 'Trust', '[role=dialog]');
    const trusted = await session.event((event) => isEvent(event, 'guidance'));
    expect(trusted.args).toMatchObject({ files: [{ path: 'AGENTS.md', text: 'Be brief.' }] });
    await hides(page, 'main', 'has its own guidance');
  });

  it('accepting a hunk or commenting on it answers no question', async () => {
    await clickOn(page, '#tab-changes');
    const hunk = `${changes} li:has([aria-label="Lines of a.txt"])`;
    await shows(page, hunk, 'first');
    await click(page, 'Accept', hunk);
    await shows(page, hunk, 'Accepted');
    await page.reload();
    await clickOn(page, '#tab-changes');
    await shows(page, hunk, 'Accepted');
    await click(page, 'Comment…', hunk);
    await fill(page, 'Comment', 'Please call it b.');
    await click(page, 'Add to review', hunk);
    await click(page, 'Submit review', changes);
    await session.event((event) => isEvent(event, 'message') && event.args.review !== undefined);
    await server.client.sessions.message(session.id, { text: 'Not yet.' });
    await session.finished();
    await shows(page, chat, 'It is b now.');
  });

  it('a new file with a non-ASCII name is rejected by that name', async () => {
    const model = script(server.data, [
      { calls: [foreign, write('docs/b10.md', 'ten\n'), write('docs/b9.md', 'nine\n')] },
      { finish: 'Written.' },
      { finish: 'I see.' },
    ]);
    const made = await start(server, { task: 'Name it', model });
    await made.finished();
    await page.goto(`${server.url}/sessions/${made.id}`);
    await clickOn(page, '#tab-changes');
    await shows(page, '[aria-label="Changed files"]', /b9\.md[^]*b10\.md[^]*größe 日本\.md/);
    const hunk = `${changes} li:has([aria-label="Lines of docs/größe 日本.md"])`;
    await shows(page, hunk, 'Wie groß?');
    await click(page, 'Reject…', hunk);
    await fill(page, 'Reason', 'Plain names.');
    await click(page, 'Add to review', hunk);
    await shows(page, changes, 'Wie groß?');
    await click(page, 'Submit review', changes);
    const told = await made.event(
      (event) => isEvent(event, 'message') && event.args.review !== undefined,
    );
    expect(told.args.text).toContain('`docs/größe 日本.md`');
    await hides(page, changes, 'Wie groß?');
    await shows(page, chat, 'I see.');
    made.close();
  });

  it('the session resumes when a reached limit is raised', async () => {
    const model = script(server.data, [
      { calls: [run('echo one')] },
      { calls: [run('echo two')] },
      { finish: 'Two is enough.' },
    ]);
    const short = await start(server, { task: 'Count', model, budgets: { steps: 2 } });
    await short.state('limited');
    await page.goto(`${server.url}/sessions/${short.id}`);
    await shows(page, 'main', 'This session reached a limit. The budget of 2 steps is spent.');
    await click(page, 'Double the limits and continue');
    await short.state('finished');
    await shows(page, chat, 'Two is enough.');
    await shows(page, 'header', 'step 3/4');
    short.close();
  });
});

/** A grey PNG image. */
function png(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8;
  const rows = deflateSync(Buffer.alloc((width + 1) * height));
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  const chunks = [chunk('IHDR', head), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...chunks]);
}
