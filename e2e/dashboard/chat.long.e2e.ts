import { isEvent } from '@belay/protocol';
import {
  chord,
  Chromium,
  click,
  describeSystem,
  fill,
  hasFocus,
  hides,
  run,
  script,
  shows,
  start,
  unfold,
  untilInPage,
} from '@belay/testkit';

const chat = '[aria-label="Chat"]';

describeSystem('the chat: edited calls, search, cards and messages', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());
  afterEach(() => chromium.closePages());

  it('a command is edited before it is allowed, and the model is told what ran', async () => {
    const model = script(server.data, [
      { calls: [run('echo one; exit 1')] },
      { expect: 'The user changed this call before allowing it', finish: 'Changed.' },
    ]);
    const session = await start(server, { task: 'Edit it', model, approvals: 'ask' });
    const page = await chromium.open(server, `/sessions/${session.id}`);
    const waiting = '[aria-label="Waiting for you"]';
    await shows(page, waiting, 'echo one; exit 1');
    await click(page, 'Always…', waiting);
    await fill(page, 'Pattern for terminal.run', 'echo two*');
    await shows(page, waiting, 'does not match the call');
    await click(page, 'Back', waiting);
    await click(page, 'Edit…', waiting);
    await fill(page, 'Changed command', 'echo edited-$((6*7))');
    await click(page, 'Run this once', waiting);
    await session.finished();
    await shows(page, chat, 'changed by Owner');
    await session.printed('edited-42');
    expect(session.terminal()).not.toContain('echo one');
    expect(chromium.complaints).toEqual([]);
    session.close();
  });

  it('Ctrl+F finds text in all of a long chat, goes to it and marks it', async () => {
    const model = script(server.data, [
      { say: 'The needle comes early.', calls: [run('true')] },
      ...Array.from({ length: 50 }, (_, index) => ({ calls: [run(`echo hay ${index}`)] })),
      { finish: 'The needle comes late.' },
    ]);
    const session = await start(server, { task: 'Look', model, approvals: 'auto' });
    const page = await chromium.open(server, `/sessions/${session.id}`);
    await shows(page, chat, 'The needle comes late.');
    await hides(page, chat, 'The needle comes early.');
    await page.focus('[aria-label="Conversation"]');
    await chord(page, 'Control', 'f');
    await hasFocus(page, '[aria-label="Find in the chat"]');
    await page.keyboard.type('NEEDLE');
    await shows(page, `${chat} [role=search] [role=status]`, '2 of 2');
    await page.keyboard.press('Enter');
    await shows(page, chat, 'The needle comes early.');
    await shows(page, `${chat} [role=search] [role=status]`, '1 of 2');
    await untilInPage(page, () =>
      [...(CSS.highlights.get('chat-match-current') ?? [])].some(
        (range) => range instanceof Range && range.toString() === 'needle',
      ),
    );
    await page.keyboard.press('Escape');
    await hasFocus(page, '[aria-label="Conversation"]');
    await untilInPage(page, () => !CSS.highlights.has('chat-match'));
    expect(chromium.complaints).toEqual([]);
    session.close();
  });

  it('a card links to its terminal and moment; messages queue or steer; pause, resume, stop and restart work', async () => {
    const model = script(server.data, [
      { calls: [run('until [ -f one ]; do sleep 0.1; done; echo one-is-there', { wait: 600 })] },
      // The steering message ends the wait; the first command keeps running.
      { calls: [run('until [ -f two ]; do sleep 0.1; done', { wait: 600, terminal: 'second' })] },
      { calls: [run('sleep 600', { terminal: 'third' })] },
      { calls: [run('sleep 601', { terminal: 'third' })] },
    ]);
    const session = await start(server, { task: 'Wait', title: 'Waits', model });
    const go = (path: string) =>
      server.client.sessions.call(session.id, 'files.write', { path, content: '' });
    const page = await chromium.open(server, `/sessions/${session.id}`);
    await shows(page, `${chat} form`, 'After this turn');
    await fill(page, 'Message to the agent', 'When you are done: sweep up.');
    await page.keyboard.press('Enter');
    await click(page, 'Now', chat);
    await fill(page, 'Message to the agent', 'Hurry up.');
    await click(page, 'Send', chat);
    await shows(page, chat, /You \(sent immediately\)\s+[\d:]+ [AP]M\s+Hurry up\./);
    await shows(page, chat, 'When you are done: sweep up.');
    const sent = () => session.events.filter((event) => isEvent(event, 'message'));
    await session.until(() => sent().length >= 2, 'both messages');
    expect(sent().map(({ args }) => args.delivery)).toEqual(['queue', 'steer']);
    // By then the agent has received the second message, and the layout is stable.
    await shows(page, chat, 'until [ -f two ]');
    await click(page, 'Edit', chat);
    await fill(page, 'Text of the queued message', 'When you are done: mop up.');
    await page.keyboard.down('Control');
    await page.keyboard.press('Enter');
    await page.keyboard.up('Control');
    await shows(
      page,
      chat,
      /queued until the end of this turn, edited\)\s+[\d:]+ [AP]M\s+When.+mop up/,
    );
    await click(page, 'Withdraw', chat);
    await shows(page, chat, 'withdrawn; the agent does not read it');

    await go('one');
    await click(page, 'Pause', 'header');
    await shows(page, 'header', 'paused');
    await click(page, 'Resume', 'header');
    await shows(page, 'header', 'running');
    await go('two');
    await shows(page, chat, 'sleep 600');
    await click(page, 'Stop', 'header');
    await click(page, 'Stop', '[role=dialog]');
    await shows(page, 'header', 'stopped');
    await shows(page, 'main', 'This session was stopped.');
    const { seq } = await session.state('stopped');
    await click(page, 'Restart', 'header');
    // The new process opens the terminal of its first command, which the panel then shows.
    await session.event(
      (event) => isEvent(event, 'terminal') && event.args.change === 'opened',
      seq,
    );
    await shows(page, chat, 'sleep 601');
    await shows(page, 'header', 'running');

    await unfold(page, chat, '-f one');
    await click(page, 'View in terminal', chat);
    await shows(page, '[aria-label="Terminal"]', 'one-is-there');
    await click(page, 'View this moment', chat);
    await shows(page, chat, 'Showing event');
    await hides(page, chat, 'sleep 600');
    await server.client.sessions.stop(session.id);
    expect(chromium.complaints).toEqual([]);
    session.close();
  });

  it('an approval shows all that it allows, and ignores an answer given before it can be read', async () => {
    const lines = Array.from({ length: 12 }, (_, index) => `echo line-${index + 1}-of-twelve`);
    const url = `https://example.com/${'far/'.repeat(30)}?token=${'a1'.repeat(60)}&last=one`;
    const model = script(server.data, [
      { calls: [run(lines.join('\n'))] },
      { calls: [{ operation: 'web.fetch', input: { url } }] },
      { finish: 'Nothing of it.' },
    ]);
    const session = await start(server, { task: 'Ask twice', model, approvals: 'ask' });
    const page = await chromium.open(server, `/sessions/${session.id}`);
    const waiting = '[aria-label="Waiting for you"]';
    await shows(page, waiting, 'line-12-of-twelve');
    await page.evaluate(answerAtOnce, waiting, 'last=one');
    await click(page, 'Deny…', waiting);
    await fill(page, 'Reason', 'Too long');
    await click(page, 'Deny', waiting);
    await shows(page, waiting, url);
    await untilInPage(page, () => document.body.dataset['answered'] === 'at once');
    // The key answers at most what the page considered waiting at that moment, which was the
    // previous question.
    await shows(page, '[aria-live=polite]', /new question|Nothing is waiting|no open question/);
    await click(page, 'Deny…', waiting);
    await fill(page, 'Reason', 'Too far');
    await click(page, 'Deny', waiting);
    await session.finished();
    expect(session.events.filter((event) => isEvent(event, 'approve'))).toEqual([]);
    const denied = session.events.filter((event) => isEvent(event, 'reject'));
    expect(denied.map(({ args }) => args.reason)).toEqual(['Too long', 'Too far']);
    expect(chromium.complaints).toEqual([]);
    session.close();
  });
});

/**
 * Runs in the page: answers by key and by click as soon as a text appears in what waits for the
 * user.
 */
function answerAtOnce(where: string, text: string): void {
  const look = () => {
    const waiting = document.querySelector(where);
    const allow = [...(waiting?.querySelectorAll('button') ?? [])].find(
      (button) => button.textContent === 'Allow once',
    );
    if (!allow || !waiting?.textContent?.includes(text)) return;
    watcher.disconnect();
    for (const key of ['n', 'y'])
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    allow.click();
    document.body.dataset['answered'] = 'at once';
  };
  const watcher = new MutationObserver(look);
  watcher.observe(document.body, { childList: true, subtree: true });
}
