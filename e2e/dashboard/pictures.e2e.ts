import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ProviderServer, streaming } from '../../apps/server/src/models/testing/provider-server.js';
import { anthropicMessages } from '../../apps/server/src/models/testing/provider-wires.js';
import { BelayServer, Chromium, click, fill, repositoryRoot, shows, start } from '@belay/testkit';

const chat = '[aria-label="Chat"]';

describe('a picture in the chat', () => {
  const chromium = new Chromium();
  let provider: ProviderServer;
  let server: BelayServer;
  beforeAll(async () => {
    provider = await ProviderServer.open();
    server = new BelayServer(anthropicMessages.environment(provider.url));
    await Promise.all([server.start(), chromium.start()]);
  });
  afterAll(async () => {
    await chromium.dispose();
    await server.dispose();
    await provider.close();
  });

  it('is sent as an image to the model’s provider', async () => {
    const ask = { id: 'call_1', name: 'ask', input: '{"question":"What does it look like?"}' };
    const finish = { id: 'call_2', name: 'finish', input: '{"summary":"I saw it."}' };
    provider.answer(
      streaming(anthropicMessages.reply({ calls: [ask] })),
      streaming(anthropicMessages.reply({ calls: [finish] })),
    );
    const session = await start(server, { task: 'Look at it', model: anthropicMessages.model });
    const page = await chromium.open(server, `/sessions/${session.id}`);
    await shows(page, chat, 'What does it look like?');

    const picture = join(repositoryRoot, 'docs/images/welcome.png');
    const [chooser] = await Promise.all([
      page.waitForFileChooser(),
      click(page, 'Attach files', chat),
    ]);
    await chooser.accept([picture]);
    await shows(page, `${chat} form`, 'welcome.png');
    await fill(page, 'Message to the agent', 'Like this.');
    await click(page, 'Send', chat);
    await session.finished();
    session.close();

    const messages = provider.requests.at(-1)?.body['messages'] as { content: Part[] }[];
    // The answer to a question of the agent is the result of its call.
    const parts = messages.flatMap(({ content }) =>
      content.flatMap((part) => part.content ?? part),
    );
    const images = parts.flatMap((part) => (part.type === 'image' ? [part.source] : []));
    expect(images).toEqual([
      { type: 'base64', media_type: 'image/png', data: readFileSync(picture).toString('base64') },
    ]);
    expect(JSON.stringify(parts)).toContain('Like this.');
    expect(chromium.complaints).toEqual([]);
  });
});

interface Part {
  type: string;
  content?: Part[];
  source?: { type: string; media_type: string; data: string };
}
