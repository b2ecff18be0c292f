import {
  failedResponse,
  modelList,
  ProviderServer,
} from '../../apps/server/src/models/testing/provider-server.js';
import { anthropicMessages } from '../../apps/server/src/models/testing/provider-wires.js';
import { Chromium, click, clickOn, describeSystem, fill, hides, shows } from '@belay/testkit';

const noKeys = {
  OPENAI_API_KEY: '',
  ANTHROPIC_API_KEY: '',
  GOOGLE_GENERATIVE_AI_API_KEY: '',
  OPENAI_COMPATIBLE_BASE_URL: '',
};

describeSystem(
  'the first page without an engine and a key',
  (server) => {
    const chromium = new Chromium();
    let provider: ProviderServer;
    beforeAll(async () => {
      await chromium.start();
      provider = await ProviderServer.open();
    });
    afterAll(async () => {
      await chromium.dispose();
      await provider.close();
    });

    it('shows what is missing and how to fix it, stores a key, and tests a model with it', async () => {
      const page = await chromium.open(server);
      await shows(page, 'main', 'No sessions yet');
      await shows(page, 'main', /2 of \d need attention/);
      await shows(page, 'main', 'Start Docker: sudo systemctl start docker.');
      await shows(page, 'main', 'No provider has a key, so only the demo can run.');
      await click(page, 'Start your own');
      await shows(page, 'main', 'Choose a model first.');
      await click(page, 'add one');
      await click(page, 'Add key to Anthropic');
      await fill(page, 'API key', 'sk-never-shown');
      await fill(page, 'Base URL', `${provider.url}/v1`);
      provider.models = failedResponse(401, { error: { message: 'invalid x-api-key' } });
      await click(page, 'Save', 'main');
      await shows(page, 'main', 'Not saved: anthropic refused the key');
      await shows(page, 'main', 'No key is set.');
      provider.models = modelList({ id: 'claude-opus-5-5' });
      await click(page, 'Save', 'main');
      await shows(page, 'main', 'A key is saved.');

      await click(page, 'Add a model server');
      await fill(page, 'Name', 'ollama');
      await fill(page, 'Base URL', 'http://127.0.0.1:4/v1');
      await click(page, 'Save', 'main');
      await shows(page, 'main', 'http://127.0.0.1:4/v1/models does not answer (ECONNREFUSED).');
      await click(page, 'Save anyway', 'main');
      await shows(page, 'main', 'Used without a key.');
      await click(page, 'Change ollama');
      await click(page, 'Remove', 'main');
      await hides(page, 'main', 'Used without a key.');
      await page.goto(`${server.url}/doctor`);
      await shows(page, 'main', /Claude .+ can be called\./);
      await click(page, 'Check again');
      provider.answer((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(anthropicMessages.reply({ text: 'ready' }).join(''));
      });
      await clickOn(page, '[aria-label^="Test Claude"]');
      await shows(page, '[aria-live]', /Claude .+ answered “ready”/);
      const keys = provider.requests.map(({ headers }) => headers['x-api-key']);
      expect(new Set(keys)).toEqual(new Set(['sk-never-shown']));
      await page.goto(`${server.url}/new`);
      await shows(page, 'main', /\nClaude/);

      // Without an engine the demo fails with an error instead of waiting forever.
      await page.goto(server.url);
      await click(page, 'Watch the demo');
      await shows(page, '[aria-label="Chat"]', /Docker/);
      expect(chromium.complaints).toEqual([]);
      await page.close();
    });
  },
  { ...noKeys, DOCKER_HOST: 'unix:///nowhere/docker.sock' },
);
