import { isEvent } from '@belay/protocol';
import { ProviderServer } from '../../apps/server/src/models/testing/provider-server.js';
import { chatCompletions } from '../../apps/server/src/models/testing/provider-wires.js';
import {
  BelayServer,
  Chromium,
  click,
  fill,
  run,
  script,
  shows,
  start,
  textOf,
  untilInPage,
} from '@belay/testkit';

const chat = '[aria-label="Chat"]';

describe('the chat', () => {
  const chromium = new Chromium();
  let provider: ProviderServer;
  let server: BelayServer;
  beforeAll(async () => {
    provider = await ProviderServer.open();
    server = new BelayServer(chatCompletions.environment(provider.url));
    await Promise.all([server.start(), chromium.start()]);
  });
  afterAll(async () => {
    await chromium.dispose();
    await server.dispose();
    await provider.close();
  });
  afterEach(() => chromium.closePages());

  it('shows a reply while it is written, and then once', async () => {
    const finish = { id: 'call_1', name: 'finish', input: '{"summary":"All said."}' };
    const text = '## Alpha begins\n\nSome words between them. Here is the omega.';
    const reply = chatCompletions.reply({ text, calls: [finish] });
    const half = reply.findIndex((event) => event.includes('Alpha begins')) + 1;
    const [begin, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    provider.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      void begin.promise.then(() => response.write(reply.slice(0, half).join('')));
      void end.promise.then(() => response.end(reply.slice(half).join('')));
    });
    const session = await start(server, { task: 'Talk', model: chatCompletions.model });
    const page = await chromium.open(server, `/sessions/${session.id}`);
    // From here on, the page follows the session.
    await shows(page, chat, 'Talk');
    begin.resolve();
    await shows(page, `${chat} h2`, 'Alpha begins');
    expect(await textOf(page, chat)).not.toContain('omega');
    await page.evaluate(noteRepetition, chat, 'Alpha begins');
    end.resolve();
    await shows(page, chat, 'Here is the omega.');
    await session.finished();
    await shows(page, chat, 'All said.');
    expect(await page.evaluate(() => document.body.dataset['twice'])).toBeUndefined();
    expect(chromium.complaints).toEqual([]);
    session.close();
  });

  it('renders Markdown without loading or running its content; approvals, questions and cards work', async () => {
    const said = [
      '## Alpha begins\n\nSome **bold** words and `code`.',
      '![pixel](https://evil.example/pixel.png)',
      '<img src="https://evil.example/other.png" onerror="window.pwned = 1">',
      '<script>window.pwned = 1</script>',
      'A [link](javascript:window.pwned=1) to click.',
      'Here is the omega.',
    ].join('\n\n');
    const options = ['Begin', 'Leave it'];
    const model = script(server.data, [
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
    ]);
    const session = await start(server, { task: 'Talk', model, approvals: 'ask' });
    const page = await chromium.open(server, `/sessions/${session.id}`);
    await shows(page, chat, 'Shall I begin?');
    await click(page, 'Begin', chat);
    await shows(page, chat, 'Here is the omega.');
    await shows(page, chat, 'A link to click.');
    expect(await page.$(`${chat} .prose-chat a`)).toBeNull();
    await shows(page, chat, 'Answered: Begin');
    await shows(page, chat, 'picture: pixel');
    await shows(page, `${chat} h2`, 'Alpha begins');
    await shows(page, `${chat} summary`, 'A thought that stays folded.');
    expect(await page.$(`${chat} details[open]`)).toBeNull();

    await shows(page, chat, 'Run this command?');
    await click(page, 'Allow once', chat);
    await shows(page, chat, 'exit 3');

    await shows(page, chat, 'echo again');
    await click(page, 'Always…', chat);
    await shows(page, chat, 'Would match');
    await click(page, 'Always allow', chat);
    await shows(page, chat, 'rm --recursive everything');
    await click(page, 'Deny…', chat);
    await fill(page, 'Reason', 'Use the bin instead');
    await click(page, 'Deny', chat);
    await session.finished();
    // The rule allowed the second call, so it is not among these.
    const asked = session.events.filter((event) => isEvent(event, 'approval'));
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

/** Runs in the page: notes when the element shows a text twice at once. */
function noteRepetition(where: string, text: string): void {
  const look = () => {
    const shown = document.querySelector<HTMLElement>(where)?.innerText ?? '';
    if (shown.split(text).length > 2) document.body.dataset['twice'] = 'yes';
  };
  const every = { childList: true, characterData: true, subtree: true };
  new MutationObserver(look).observe(document.body, every);
}

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
