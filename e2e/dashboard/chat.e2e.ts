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
} from '@belay/testkit';

const chat = '[aria-label="Chat"]';

// chat.long.e2e.ts has approvals that are answered too early, edited calls, search and cards.
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
