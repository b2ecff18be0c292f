import { isFact } from '@belay/protocol';
import { Chromium, fill, press, shows, textOf, until } from '../chromium.js';
import { describeSystem } from '../describe-system.js';
import { start } from '../follow.js';
import { run, script } from '../script.js';

const chat = '[aria-label="Chat"]';

describeSystem('the chat', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());

  it('streams Markdown without fetching or running what is in it; approvals, questions and cards work', async () => {
    const said = [
      '## Alpha begins\n\nSome **bold** words and `code`.',
      '![pixel](https://evil.example/pixel.png)',
      '<img src="https://evil.example/other.png" onerror="window.pwned = 1">',
      '<script>window.pwned = 1</script>',
      'A [link](javascript:window.pwned=1) to press.',
      'Here is the omega.',
    ].join('\n\n');
    const options = ['Begin', 'Leave it'];
    const model = script(
      server.data,
      [
        { calls: [{ operation: 'ask', input: { question: 'Shall I begin?', options } }] },
        {
          expect: 'Begin',
          reason: 'A thought that stays folded.',
          say: said,
          calls: [run('(exit 3)')],
        },
        { expect: 'exitCode\\W+3', calls: [run('echo again')] },
        { calls: [run('echo again')] },
        { calls: [run('rm --recursive everything')] },
        { expect: 'Use the bin instead', finish: 'All **done**.' },
      ],
      40,
    );
    const session = await start(server, { task: 'Talk', model, approvals: 'ask' });
    const page = await chromium.open(server, `/sessions/${session.id}`);
    await shows(page, chat, 'Shall I begin?');
    await page.evaluate((where) => {
      const look = () => {
        const text = document.querySelector<HTMLElement>(where)?.innerText ?? '';
        if (text.includes('Alpha') && !text.includes('omega'))
          document.body.dataset['streamed'] = 'yes';
      };
      new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
    }, chat);
    await press(page, 'Begin', chat);
    await shows(page, chat, 'Here is the omega.');
    await shows(page, chat, 'A link to press.');
    expect(await page.$(`${chat} .prose-chat a`)).toBeNull();
    await shows(page, chat, 'Answered: Begin');
    await until(page, () => document.body.dataset['streamed'] === 'yes');
    await shows(page, chat, 'picture: pixel');
    await shows(page, `${chat} h2`, 'Alpha begins');
    await shows(page, `${chat} summary`, 'A thought that stays folded.');
    expect(await page.$(`${chat} details[open]`)).toBeNull();

    await shows(page, chat, 'Allow terminal.run?');
    await press(page, 'Allow once', chat);
    await shows(page, chat, 'exit 3');

    await shows(page, chat, 'echo again');
    await press(page, 'Always…', chat);
    await shows(page, chat, 'It would have decided');
    await press(page, 'Allow always', chat);
    await shows(page, chat, 'rm --recursive everything');
    await press(page, 'No', chat);
    await fill(page, 'Why not', 'Use the bin instead');
    await press(page, 'Do not allow', chat);
    await session.finished();
    // The rule answered for the second one.
    const asked = session.events.filter((event) => isFact(event, 'approval'));
    expect(asked.map(({ args }) => args.subject)).toEqual([
      '(exit 3)',
      'echo again',
      'rm --recursive everything',
    ]);
    await shows(page, chat, 'All done.');
    await shows(page, chat, 'Use the bin instead');
    expect(session.terminal()).not.toContain('recursive');
    expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
    expect(chromium.complaints).toEqual([]);
    session.close();
  });

  it('a card leads to its terminal and its moment; messages queue or steer; pause, resume, stop and restart', async () => {
    const model = script(server.data, [
      { calls: [run('until [ -f one ]; do sleep 0.1; done; echo one-is-there')] },
      { calls: [run('until [ -f two ]; do sleep 0.1; done')] },
      { calls: [run('sleep 600')] },
      { calls: [run('sleep 601')] },
    ]);
    const session = await start(server, { task: 'Wait', title: 'Waits', model });
    const go = (path: string) =>
      server.client.sessions.call(session.id, 'files.write', { path, content: '' });
    const page = await chromium.open(server, `/sessions/${session.id}`);
    await shows(page, `${chat} form`, 'After this turn');
    await fill(page, 'Message to the agent', 'When you are done: sweep up.');
    await page.keyboard.press('Enter');
    await press(page, 'Now', chat);
    await fill(page, 'Message to the agent', 'Hurry up.');
    await press(page, 'Send', chat);
    await shows(page, chat, /You · steered\s+[\d:]+ [AP]M\s+Hurry up\./);
    await shows(page, chat, 'When you are done: sweep up.');
    const sent = session.events.filter((event) => isFact(event, 'message'));
    expect(sent.map(({ args }) => args.delivery)).toEqual(['queue', 'steer']);

    await go('one');
    await shows(page, chat, 'until [ -f two ]');
    await press(page, 'Pause', 'header');
    await shows(page, 'header', 'paused');
    await press(page, 'Resume', 'header');
    await shows(page, 'header', 'running');
    await go('two');
    await shows(page, chat, 'sleep 600');
    await press(page, 'Stop', 'header');
    await shows(page, 'header', 'stopped');
    await shows(page, 'main', 'This session was stopped.');
    const { seq } = await session.state('stopped');
    await press(page, 'Restart', 'header');
    await session.event((event) => event.action === 'state' && event.args.state === 'running', seq);
    await shows(page, 'header', 'running');

    await page.evaluate((where) => {
      const cards = [...document.querySelectorAll<HTMLElement>(`${where} [aria-expanded]`)];
      cards.find((card) => card.innerText.includes('-f one'))?.click();
    }, chat);
    await press(page, 'In the terminal', chat);
    await shows(page, '[aria-label="Terminal"]', 'one-is-there');
    await press(page, 'This moment', chat);
    await shows(page, chat, 'Showing event');
    const past = await textOf(page, chat);
    expect(past).not.toContain('sleep 600');
    await server.client.sessions.stop(session.id);
    expect(chromium.complaints).toEqual([]);
    session.close();
  });
});
