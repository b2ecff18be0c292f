import { eventually } from '@belay/testing';
import { choose, Chromium, click, describeSystem, fill, shows, untilInPage } from '@belay/testkit';

describeSystem('the settings of the server', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());
  afterEach(() => chromium.closePages());
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('budgets, network and approvals apply to the next session', async () => {
    const page = await chromium.open(server, '/settings?section=budgets');
    await shows(page, 'main', 'Applies to new sessions');
    await fill(page, 'Step limit', '12');
    await fill(page, 'Spending limit ($)', '1.5');
    await click(page, 'Save', 'main');
    await shows(page, 'body', 'Saved for new sessions.');
    await click(page, 'Network', 'nav');
    await choose(page, 'main select', 'list');
    await fill(page, 'Allowed hosts', 'api.example/path');
    await click(page, 'Save', 'main');
    await shows(page, '[role=alert]', 'api.example/path');
    await fill(page, 'Allowed hosts', 'api.example, *.example.org:8443');
    await click(page, 'Save', 'main');
    await untilInPage(
      page,
      () => document.querySelector<HTMLButtonElement>('main form button[type=submit]')?.disabled,
    );
    await click(page, 'Approvals', 'nav');
    await choose(page, 'main select', 'delay');
    await click(page, 'Save', 'main');
    await untilInPage(
      page,
      () => document.querySelector<HTMLButtonElement>('main form button[type=submit]')?.disabled,
    );
    await eventually(async () =>
      expect(await server.client.settings.read()).toEqual({
        budgets: { steps: 12, tokens: null, dollars: 1.5, seconds: null },
        egress: { profile: 'list', hosts: ['api.example', '*.example.org:8443'] },
        approvals: 'delay',
      }),
    );
    await page.goto(`${server.url}/new`);
    // The list of models moves the layout below it when it loads.
    await shows(page, 'main', 'scripted:example');
    await click(page, 'More: approvals, limits, network, image, MCP');
    await eventually(async () => {
      const shown = await page.$$eval('details input, details select', (fields) =>
        fields.map((field) => (field as HTMLInputElement).value),
      );
      expect(shown).toEqual(
        expect.arrayContaining(['delay', '12', '1.5', 'list', 'api.example, *.example.org:8443']),
      );
    });
  });
});
