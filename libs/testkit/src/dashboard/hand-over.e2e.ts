import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { isFact } from '@belay/protocol';
import type { Page } from 'puppeteer-core';
import { Chromium, fill, hides, press, pressOn, shows, until } from '../chromium.js';
import { describeSystem } from '../describe-system.js';
import { root } from '../environment.js';
import { start, type Followed } from '../follow.js';
import { run, script } from '../script.js';

const chat = '[aria-label="Chat"]';
const changes = '[aria-label="Changes"]';
const ask = (question: string) => ({ operation: 'ask', input: { question } });
const write = (path: string, content: string) => ({
  operation: 'files.write',
  input: { path, content },
});
const field = (page: Page): Promise<string> =>
  page.$eval('#message', (element) => (element as HTMLTextAreaElement).value);

describeSystem('what a person hands over', (server) => {
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
      { expect: 'call it b', finish: 'It is b now.' },
    ]);
    session = await start(server, { task: 'Look', title: 'Looks', model });
    page = await chromium.open(server, `/sessions/${session.id}`);
  });
  afterAll(async () => {
    session.close();
    await chromium.dispose();
  });
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('a file comes into the workspace and a picture goes with the message', async () => {
    const notes = join(server.data, 'notes.txt');
    const picture = join(root, 'docs/images/welcome.png');
    writeFileSync(notes, 'words-of-the-notes\n');
    await shows(page, chat, 'What shall I look at?');
    const [chooser] = await Promise.all([
      page.waitForFileChooser(),
      press(page, 'Attach files', chat),
    ]);
    const wide = join(server.data, 'wide.png');
    writeFileSync(wide, png(3_136, 20));
    await chooser.accept([notes, picture, wide]);
    await shows(page, `${chat} form`, 'wide.png');
    await fill(page, 'Message to the agent', 'Look at these.');
    await press(page, 'Send', chat);
    const sent = await session.event((event) => isFact(event, 'message'));
    if (!isFact(sent, 'message')) throw new Error('It is no message.');
    expect(sent.args.text).toBe('Look at these.\n@attachments/notes.txt');
    const [image = '', shrunk = ''] = sent.args.images ?? [];
    const kept = await server.client.sessions.blob(session.id, image);
    expect(Buffer.from(kept).equals(readFileSync(picture))).toBe(true);
    const small = Buffer.from(await server.client.sessions.blob(session.id, shrunk));
    const size = small.indexOf(Buffer.from('ffc0', 'hex')) + 5;
    expect([small.readUInt16BE(size), small.readUInt16BE(size + 2)]).toEqual([10, 1_568]);
    await until(page, () => {
      const shown = document.querySelector<HTMLImageElement>('[aria-label="Chat"] img');
      return shown?.complete && shown.naturalWidth > 0;
    });
    // The script goes on only when the agent could read the file.
    await shows(page, chat, 'Is it well?');
  });

  it('`@` completes a file, `/` a command', async () => {
    await fill(page, 'Message to the agent', 'See @note');
    await shows(page, '[role=listbox]', '@attachments/notes.txt');
    await page.keyboard.press('Enter');
    expect(await field(page)).toBe('See @attachments/notes.txt ');
    await fill(page, 'Message to the agent', '/del');
    await shows(page, '[role=listbox]', 'Run calls after two seconds');
    await page.keyboard.press('Enter');
    expect(await field(page)).toBe('/delay ');
    await page.keyboard.press('Enter');
    await session.event((event) => isFact(event, 'change') && event.args.approvals === 'delay');
    expect(await field(page)).toBe('');
  });

  it('guidance of the workspace counts after a person has read and trusted it', async () => {
    await shows(page, 'main', 'has guidance of its own (AGENTS.md)');
    expect(session.events.some((event) => isFact(event, 'guidance'))).toBe(false);
    await press(page, 'Read it…');
    await shows(page, '[role=dialog]', 'Be brief.');
    await press(page, 'Trust it', '[role=dialog]');
    const trusted = await session.event((event) => isFact(event, 'guidance'));
    expect(trusted.args).toMatchObject({ files: [{ path: 'AGENTS.md', text: 'Be brief.' }] });
    await hides(page, 'main', 'has guidance of its own');
  });

  it('a hunk is accepted, or commented, and the agent reads the comment', async () => {
    await pressOn(page, '#tab-changes');
    const hunk = `${changes} details:has([aria-label="Lines of a.txt"])`;
    await shows(page, hunk, 'first');
    await press(page, 'Accept', hunk);
    await shows(page, hunk, 'Accepted');
    await page.reload();
    await pressOn(page, '#tab-changes');
    await shows(page, hunk, 'Accepted');
    await press(page, 'Comment…', hunk);
    await fill(page, 'Comment', 'Please call it b.');
    await press(page, 'Send comment', hunk);
    await session.finished();
    await shows(page, chat, 'It is b now.');
  });

  it('a spent limit is raised, and the session goes on', async () => {
    const model = script(server.data, [
      { calls: [run('echo one')] },
      { calls: [run('echo two')] },
      { finish: 'Two is enough.' },
    ]);
    const short = await start(server, { task: 'Count', model, budgets: { steps: 2 } });
    await short.state('limited');
    await page.goto(`${server.url}/sessions/${short.id}`);
    await shows(page, 'main', 'This session is out of budget. The budget of 2 steps is spent.');
    await press(page, 'Double the limits and go on');
    await short.state('finished');
    await shows(page, chat, 'Two is enough.');
    await shows(page, 'header', 'step 3/4');
    short.close();
  });
});

/** A grey picture. */
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
