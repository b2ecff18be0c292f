import { Chromium, fill, press, shows, until } from '../chromium.js';
import { describeSystem } from '../describe-system.js';

describeSystem('the settings of the server', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('budgets, network and approvals are what the next session begins with', async () => {
    const page = await chromium.open(server, '/settings?section=budgets');
    await shows(page, 'main', 'This counts for new sessions');
    await fill(page, 'Most steps', '12');
    await fill(page, 'Most dollars', '1.5');
    await press(page, 'Save', 'main');
    await shows(page, 'body', 'Saved. New sessions begin with it.');
    await press(page, 'Network', 'nav');
    await page.select('main select', 'list');
    await fill(page, 'More hosts', 'api.example, *.example.org:8443');
    await press(page, 'Save', 'main');
    await until(
      page,
      () => document.querySelector<HTMLButtonElement>('main form button')?.disabled,
    );
    await press(page, 'Approvals', 'nav');
    await page.select('main select', 'delay');
    await press(page, 'Save', 'main');
    await until(
      page,
      () => document.querySelector<HTMLButtonElement>('main form button')?.disabled,
    );
    expect(await server.client.settings.read()).toEqual({
      budgets: { steps: 12, tokens: null, dollars: 1.5, seconds: null },
      egress: { profile: 'list', hosts: ['api.example', '*.example.org:8443'] },
      approvals: 'delay',
    });
    await page.goto(`${server.url}/new`);
    await press(page, 'More: approvals, limits, network, image');
    const shown = await page.$$eval('details input, details select', (fields) =>
      fields.map((field) => (field as HTMLInputElement).value),
    );
    expect(shown).toEqual(
      expect.arrayContaining(['delay', '12', '1.5', 'list', 'api.example, *.example.org:8443']),
    );
    await page.close();
  });
});
