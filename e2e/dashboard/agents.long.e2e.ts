import { ProviderServer } from '../../apps/server/src/models/testing/provider-server.js';
import { chatCompletions } from '../../apps/server/src/models/testing/provider-wires.js';
import {
  BelayServer,
  choose,
  Chromium,
  click,
  fill,
  focusOn,
  Followed,
  shows,
} from '@belay/testkit';
import { accessibilityFaults } from './accessible-pages.js';

const chat = '[aria-label="Chat"]';
const terminal = '[aria-label="Terminal"]';

describe('agents of others', () => {
  const chromium = new Chromium();
  let provider: ProviderServer;
  let server: BelayServer;
  beforeAll(async () => {
    provider = await ProviderServer.open();
    server = new BelayServer({
      ...chatCompletions.environment(provider.url),
      // It has no packages.
      npm_config_registry: `${provider.url}/npm`,
    });
    await Promise.all([server.start(), chromium.start()]);
  });
  afterAll(async () => {
    await chromium.dispose();
    await server.dispose();
    await provider.close();
  });
  afterEach(() => chromium.closePages());
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('are installed once their licence is accepted, and say why they were not', async () => {
    const page = await chromium.open(server, '/settings?section=agents');
    await click(page, 'Install Claude Code');
    await shows(page, '[role=dialog]', 'Its licence is proprietary.');
    expect(await accessibilityFaults(page)).toEqual([]);
    await click(page, 'Cancel', '[role=dialog]');
    await click(page, 'Install Gemini CLI');
    await shows(page, '[aria-label="Gemini CLI"] [role=alert]', /npm registry did not send/);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.goto(`${server.url}/new`);
    await shows(page, 'main', 'Gemini CLI (not installed)');
    await click(page, 'the settings', 'main');
    await shows(page, 'main', 'Your own');
  });

  it('work on one task, chosen in the form, and are compared', async () => {
    for (const name of ['first', 'second']) {
      const command = ['sh', '-c', 'echo by $0 > made.txt', name];
      await server.client.agents.saveCustom(name, { command, protocol: 'terminal', env: {} });
    }
    const page = await chromium.open(server, '/new');
    await shows(page, 'main', 'Models');
    await fill(page, 'Task', 'Make it');
    await fill(page, 'Add a model', chatCompletions.model);
    await page.keyboard.press('Enter');
    await choose(page, 'select:has([value=first])', 'first');
    await click(page, 'Compare with another agent');
    await click(page, 'Compare with another agent');
    await click(page, 'Remove agent 3');
    await fill(page, 'Check command', 'grep second made.txt');
    expect(await accessibilityFaults(page)).toEqual([]);
    await click(page, 'Start 2 sessions');
    const column = (name: string) => `section[aria-label="${name} · ${chatCompletions.model}"]`;
    await shows(page, column('first'), 'failed, exit code 1');
    await shows(page, column('first'), 'by first');
    await shows(page, column('second'), 'passed, exit code 0');
    await shows(page, column('second'), 'by second');
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('wait in their terminal for their user, who goes on there after the end', async () => {
    const command = ['sh', '-c', 'printf "\\a"; read line; echo "got $line, $0"', '{task}'];
    await server.client.agents.saveCustom('typed', { command, protocol: 'terminal', env: {} });
    const { id } = await server.client.sessions.create({
      task: 'the-task',
      model: chatCompletions.model,
      agent: { name: 'typed' },
    });
    const session = new Followed(server, id);
    await session.state('waiting');
    const page = await chromium.open(server);
    await shows(page, 'main', 'typed rang the bell.');
    expect(await accessibilityFaults(page)).toEqual([]);
    await click(page, 'Open it', 'main');
    await click(page, 'Open terminal', chat);
    expect(await accessibilityFaults(page)).toEqual([]);
    const type = async (text: string) => {
      await shows(page, terminal, 'You’re in control');
      await focusOn(page, '.xterm-helper-textarea');
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
    };
    await type('one');
    await session.printed('got one, the-task', 'agent');
    const { seq } = await session.finished();
    await fill(page, 'Message to the agent', 'More');
    await click(page, 'Send', chat);
    // In the log and below it: the page knows that the program runs again, and that its user is in control.
    await shows(page, chat, /Restarted[^]*typed rang the bell\.[^]*typed rang the bell\./);
    await type('two');
    // The task is not given again.
    await session.printed('got two, \r\n', 'agent');
    await session.finished(seq);
    session.close();
  });
});
