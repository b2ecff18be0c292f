import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ProviderServer, streaming } from '../../apps/server/src/models/testing/provider-server.js';
import { chatCompletions } from '../../apps/server/src/models/testing/provider-wires.js';
import {
  BelayServer,
  choose,
  Chromium,
  click,
  fill,
  put,
  repositoryRoot,
  shows,
  unfold,
  untilInPage,
} from '@belay/testkit';
import { accessibilityFaults } from './accessible-pages.js';

const chat = '[aria-label="Chat"]';
const bash = (id: string, command: string) => ({
  id,
  name: 'bash',
  input: JSON.stringify({ command }),
});

describe('an agent of the user’s own', () => {
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

  it('is added, renamed, works on a task, and runs what is allowed alone', async () => {
    const page = await chromium.open(server, '/settings?section=agents');
    await shows(page, 'main', 'Codex');
    await click(page, 'Add agent');
    await fill(page, 'Name', 'mine');
    await fill(page, 'Title', 'My agent');
    await fill(page, 'Command', '/opt/belay/node\n/workspace/own-agent.mjs\nacp');
    expect(await accessibilityFaults(page)).toEqual([]);
    await click(page, 'Add', 'main form');
    await shows(page, '[aria-label="My agent"]', '/opt/belay/node /workspace/own-agent.mjs acp');
    await click(page, 'Edit My agent');
    await fill(page, 'Title', 'Our agent');
    expect(await accessibilityFaults(page)).toEqual([]);
    await click(page, 'Save', 'main form');
    await shows(page, '[aria-label="Our agent"]', '/opt/belay/node /workspace/own-agent.mjs acp');
    expect(await accessibilityFaults(page)).toEqual([]);

    provider.answer(
      streaming(chatCompletions.reply({ calls: [bash('call_1', 'echo from-the-program')] })),
      streaming(chatCompletions.reply({ text: 'I go on.', calls: [bash('call_2', 'rm -r /')] })),
    );
    const folder = join(server.data, 'folder');
    const program = readFileSync(join(repositoryRoot, 'e2e/own-agent.mjs'), 'utf8');
    put(folder, 'own-agent.mjs', program);
    await page.goto(`${server.url}/new`);
    await page.evaluate(() => Object.assign(window, { showDirectoryPicker: undefined }));
    await shows(page, 'main', 'Models');
    await fill(page, 'Task', 'Print something');
    await choose(page, 'select:has([value=mine])', 'mine');
    await fill(page, 'Add a model', chatCompletions.model);
    await page.keyboard.press('Enter');
    await click(page, 'My folder', 'main');
    const [chooser] = await Promise.all([
      page.waitForFileChooser(),
      click(page, 'Choose a folder', 'main'),
    ]);
    await chooser.accept([folder]);
    await shows(page, 'main', '1 file');
    expect(await accessibilityFaults(page)).toEqual([]);
    await click(page, 'Start', 'main');
    await untilInPage(page, () => location.pathname.startsWith('/sessions/'));

    await shows(page, chat, 'Let mine call bash?');
    expect(await accessibilityFaults(page)).toEqual([]);
    await click(page, 'Allow once', chat);
    await unfold(page, chat, 'echo from-the-program');
    await shows(page, chat, /\nfrom-the-program/);
    // What the model said before the call is there before the user decides.
    await shows(page, chat, /I go on\.[^]*rm -r \/[^]*Let mine call bash\?/);
    await click(page, 'Deny…', chat);
    await fill(page, 'Reason', 'Not that.');
    await click(page, 'Deny', chat);
    await shows(page, 'header', 'finished');
    await shows(page, chat, /rm -r \/[^]*Owner denied this: Not that\.[^]*Belay did not run/);
    await shows(page, 'body', 'Run what it says');
    expect(chromium.complaints).toEqual([]);
  });
});
