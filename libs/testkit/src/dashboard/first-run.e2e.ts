import { ProviderServer } from '../../../../apps/server/src/models/testing/provider-server.js';
import { anthropicMessages } from '../../../../apps/server/src/models/testing/wire.js';
import { Chromium, fill, press, shows } from '../chromium.js';
import { describeSystem } from '../describe-system.js';

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

    it('says what is missing and what to do, takes a key, and tries a model with it', async () => {
      const page = await chromium.open(server);
      await shows(page, 'main', 'No sessions yet');
      await shows(page, 'main', /1 of \d needs something from you/);
      await shows(page, 'main', 'Start Docker: sudo systemctl start docker.');
      await shows(page, 'main', 'No provider has a key, so only the demo can run.');
      await press(page, 'Start your own');
      await shows(page, 'main', 'Choose a model first.');
      await press(page, 'add one');
      await press(page, 'Add a key to Anthropic');
      await fill(page, 'Key', 'sk-never-shown');
      await fill(page, 'Address', `${provider.url}/v1`);
      await press(page, 'Save', 'main');
      await shows(page, 'main', 'A key is saved.');
      await page.goto(`${server.url}/doctor`);
      await shows(page, 'main', /Claude .+ can be called\./);
      await press(page, 'Check again');
      provider.answer((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(anthropicMessages.reply({ text: 'ready' }).join(''));
      });
      await page.click('[aria-label^="Try Claude"]');
      await shows(page, '[aria-live]', /Claude .+ answered “ready”/);
      expect(provider.requests[0]?.headers['x-api-key']).toBe('sk-never-shown');
      await page.goto(`${server.url}/new`);
      await shows(page, 'main', /\nClaude/);

      // Without an engine the demo says so instead of waiting for ever.
      await page.goto(server.url);
      await press(page, 'Watch the demo');
      await shows(page, '[aria-label="Chat"]', /Docker/);
      expect(chromium.complaints).toEqual([]);
      await page.close();
    });
  },
  { ...noKeys, DOCKER_HOST: 'unix:///nowhere/docker.sock' },
);

describeSystem(
  'the first page without an image and a runtime',
  (server) => {
    const chromium = new Chromium();
    beforeAll(() => chromium.start());
    afterAll(() => chromium.dispose());

    it('says what to do for each', async () => {
      const page = await chromium.open(server);
      await shows(page, 'main', /2 of \d need something from you/);
      await shows(page, 'main', 'belay/nowhere:1 is not here.');
      await shows(page, 'main', 'Run npm start, or docker pull belay/nowhere:1.');
      await shows(page, 'main', 'Run npm start: it builds the runtime.');
      await page.close();
    });
  },
  { ...noKeys, BELAY_IMAGE: 'belay/nowhere:1', BELAY_RUNTIME: 'belay-runtime-nowhere' },
);
