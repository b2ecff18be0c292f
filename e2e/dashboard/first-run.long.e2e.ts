import { Chromium, describeSystem, shows } from '@belay/testkit';

const noKeys = {
  OPENAI_API_KEY: '',
  ANTHROPIC_API_KEY: '',
  GOOGLE_GENERATIVE_AI_API_KEY: '',
  OPENAI_COMPATIBLE_BASE_URL: '',
};

describeSystem(
  'the first page without an image and a runtime',
  (server) => {
    const chromium = new Chromium();
    beforeAll(() => chromium.start());
    afterAll(() => chromium.dispose());

    it('shows how to fix each problem', async () => {
      const page = await chromium.open(server);
      await shows(page, 'main', /3 of \d need attention/);
      await shows(page, 'main', 'belay/nowhere:1 is missing.');
      await shows(page, 'main', 'Run npm start, or docker pull belay/nowhere:1.');
      await shows(page, 'main', 'Run npm start: it builds the runtime.');
      await page.close();
    });
  },
  { ...noKeys, BELAY_IMAGE: 'belay/nowhere:1', BELAY_RUNTIME: 'belay-runtime-nowhere' },
);
