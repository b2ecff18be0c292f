import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { isEvent } from '@belay/protocol';
import type { Page } from 'puppeteer-core';
import { ProviderServer, streaming } from '../../apps/server/src/models/testing/provider-server.js';
import { chatCompletions } from '../../apps/server/src/models/testing/provider-wires.js';
import {
  belay,
  Chromium,
  click,
  clickOn,
  describeSystem,
  fill,
  gitIn,
  GitServer,
  PullRequestServer,
  put,
  script,
  shows,
  start,
  untilInPage,
} from '@belay/testkit';

describeSystem('cloning, publishing, and actions from git', (server) => {
  const chromium = new Chromium();
  const git = new GitServer();
  let provider: ProviderServer;
  beforeAll(async () => {
    await chromium.start();
    await git.start();
    provider = await ProviderServer.open();
  });
  afterAll(async () => {
    await chromium.dispose();
    await git.close();
    await provider.close();
  });
  afterEach(() => chromium.closePages());
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('begins with a clone, and opens a pull request with the changes that were shown', async () => {
    const source = join(server.data, 'repository');
    put(source, 'README.md', 'Welcome\n');
    gitIn(source, 'init', '-q', '-b', 'main', '--template=');
    gitIn(source, 'add', '.');
    gitIn(source, 'commit', '-q', '-m', 'first');
    const bare = git.publish('acme/trails.git', source);
    const { token, host } = git;
    const options = { repository: 'acme/trails', token, page: 'https://git.example.com' };
    const hub = new PullRequestServer('gitea', options);
    git.intercept = (request, response) => hub.handle(request, response);
    await server.client.git.setHost(host, { kind: 'gitea', private: true, insecure: true, token });
    const writes = (path: string, content: string) => ({
      operation: 'files.write',
      input: { path, content, overwrite: true },
    });
    const model = script(server.data, [
      { calls: [writes('README.md', 'Hello\n'), writes('.github/workflows/ci.yml', 'on: push\n')] },
      { finish: 'Done.' },
    ]);
    await server.client.settings.change({ approvals: 'auto' });
    const page = await chromium.open(server, '/new');
    await shows(page, 'main', 'Workspace');
    await fill(page, 'Task', 'Say hello');
    await fill(page, 'Add a model', model);
    await page.keyboard.press('Enter');
    await click(page, 'Git repository');
    await fill(page, 'Repository', 'git@git.example.com:acme/trails.git');
    await page.keyboard.press('Enter');
    await shows(page, '[role=alert]', 'use https://git.example.com/acme/trails.git');
    await fill(page, 'Repository', git.url('acme/trails.git'));
    await page.keyboard.press('Enter');
    await shows(page, '[aria-label="Chat"]', 'Done.');
    await clickOn(page, '[aria-label="Publish changes"]');
    await shows(page, '[role=dialog]', 'Change what runs in CI');
    await shows(page, '[aria-label="Changed files"]', 'README.md');
    await clickOn(page, '[role=dialog] input[type=checkbox]');
    await click(page, 'Push and open', '[role=dialog]');
    await shows(page, '[role=dialog]', 'Open pull request 1');
    await shows(page, '[aria-label="Chat"]', 'https://git.example.com/acme/trails/pull/1');
    expect(hub.opened).toMatchObject([{ title: 'Say hello', head: 'belay/say-hello' }]);
    expect(gitIn(bare, 'show', 'belay/say-hello:README.md')).toBe('Hello\n');
    const request = 'https://git.example.com/acme/trails/pull/1';
    await page.keyboard.press('Escape');
    await page.waitForSelector(`[aria-label="Chat"] a[href="${request}"]`);
    await page.waitForSelector('header a[aria-label="Pull request 1: open"]');
    await clickOn(page, '[aria-label="Publish changes"]');
    await shows(page, '[role=dialog]', 'already has these changes');
    await page.keyboard.press('Escape');
    await page.goto(`${server.url}/`);
    await page.waitForSelector(`main a[href="${request}"]`);
  });

  it('installs an action, asks before an update, and shows the picture and the sound that it produces', async () => {
    const source = join(server.data, 'actions');
    const manifest = (more: object) =>
      put(
        source,
        'studio/manifest.json',
        JSON.stringify({
          name_for_human: 'Studio',
          name_for_model: 'studio',
          description_for_human: 'Paints a dot and sings a tone.',
          description_for_model: 'Paints a dot and sings a tone.',
          base_image: process.env['BELAY_TEST_BUSYBOX'],
          permissions: { secrets: ['STUDIO_KEY'], memory_mb: 64, ...more },
        }),
      );
    const commit = () => {
      gitIn(source, 'add', '.');
      gitIn(source, 'commit', '-q', '-m', 'studio');
    };
    manifest({});
    put(source, 'studio/run', studio);
    chmodSync(join(source, 'studio/run'), 0o755);
    gitIn(source, 'init', '-q', '-b', 'main', '--template=');
    commit();
    const bare = git.publish('acme/actions.git', source);
    git.intercept = () => false;
    const { token, host } = git;
    await server.client.git.setHost(host, { kind: 'gitea', private: true, insecure: true, token });

    const page = await chromium.open(server, '/actions');
    await click(page, 'Install action');
    await fill(page, 'Repository', git.url('acme/actions.git'));
    await click(page, 'Find actions');
    await shows(page, '[aria-label="Install action"]', 'Is given the secret STUDIO_KEY.');
    await click(page, 'Install', '[aria-label="Install action"]');
    await shows(page, '[aria-label="Install action"]', 'Installed.');
    await clickOn(page, 'a[href="/actions/studio"]');
    await shows(page, '[aria-label="Secrets"]', 'not set');
    await fill(page, 'STUDIO_KEY', 'sk-studio-secret');
    await click(page, 'Save', '[aria-label="Secrets"]');
    await shows(page, '[aria-label="Secrets"]', 'Remove');
    expect(await page.content()).not.toContain('sk-studio-secret');

    manifest({ network: ['api.example.com'] });
    commit();
    gitIn(source, 'push', '-q', bare, '--all');
    await click(page, 'Check for updates');
    await shows(page, '[aria-label="Install action"]', 'Reaches api.example.com.');
    await shows(page, '[aria-label="Permissions"]', 'Has no network.');
    await click(page, 'Update', '[aria-label="Install action"]');
    await shows(page, '[aria-label="Permissions"]', 'Reaches api.example.com.');

    const model = script(server.data, [
      { calls: [{ operation: 'action.studio', input: {} }] },
      { expect: 'knows its key', finish: 'Painted.' },
    ]);
    const session = await start(server, { task: 'Paint', model, approvals: 'auto' });
    await session.finished();
    session.close();
    await page.goto(`${server.url}/sessions/${session.id}`);
    await shows(page, '[aria-label="Chat"]', 'tone.wav');
    await untilInPage(page, () => {
      const image = document.querySelector<HTMLImageElement>('img[alt="dot.png"]');
      return image !== null && image.naturalWidth > 0;
    });
    await plays(page);
  });

  it('lets a model without tool calling start an action in the background, and plays the sound that arrives later', async () => {
    const manifest = {
      name_for_human: 'Singer',
      name_for_model: 'singer',
      description_for_human: 'Sings a tone.',
      description_for_model: 'Sings a tone.',
      base_image: process.env['BELAY_TEST_BUSYBOX'],
      asynchronous: true,
    };
    const folder = join(server.data, 'singer');
    put(folder, 'manifest.json', JSON.stringify(manifest));
    put(folder, 'run', singer);
    chmodSync(join(folder, 'run'), 0o755);
    expect(await belay(server.data, ['actions', 'install', folder])).toMatchObject({ code: 0 });

    const url = `${provider.url}/v1`;
    await server.client.models.setProvider('openai-compatible', { url, unchecked: true });
    const reply = (): string => {
      if (provider.requests.length === 1) return 'I let it sing.\n{{singer("la")}}';
      const hasSung = provider.requests.at(-1)?.text.includes('It sang la.');
      return hasSung ? '{{finish("It sang.")}}' : 'I wait.';
    };
    for (let turn = 0; turn < 3; turn++)
      provider.answer((response) => streaming(chatCompletions.reply({ text: reply() }))(response));
    const session = await start(server, {
      task: 'Sing',
      model: 'openai-compatible:small?tools=tags',
      approvals: 'auto',
      actions: ['singer'],
    });
    await session.finished();
    session.close();
    const result = session.events.find((event) => isEvent(event, 'result'));
    expect(result?.args).toMatchObject({
      operation: 'action.singer',
      output: { background: expect.any(String) },
    });
    const page = await chromium.open(server, `/sessions/${session.id}`);
    await shows(page, '[aria-label="Chat"]', 'tone.wav');
    await plays(page);
  });
});

/** Browsers only play what the user has clicked. */
async function plays(page: Page): Promise<void> {
  await clickOn(page, '[aria-label="Chat"] audio[aria-label="tone.wav"]');
  await untilInPage(page, async () => {
    const sound = document.querySelector('audio');
    // Retries, because `play` rejects while the sound is still loading.
    if (sound?.currentTime === 0) await sound.play().catch(() => undefined);
    return sound !== null && sound.duration > 0.4 && sound.currentTime > 0;
  });
}

/** Half a second of a 440 Hz tone: 8,000 one-byte samples per second. */
function tone(): Buffer {
  const samples = Buffer.from(
    Array.from({ length: 4_000 }, (_, at) => 128 + 60 * Math.sin((at * 440 * 2 * Math.PI) / 8_000)),
  );
  const head = Buffer.alloc(44);
  head.write('RIFF');
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(8_000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

const dot =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const studio = `#!/bin/sh
[ "$STUDIO_KEY" = sk-studio-secret ] && echo knows its key
echo ${dot} | base64 -d > /output/dot.png
echo ${tone().toString('base64')} | base64 -d > /output/tone.wav
`;
const singer = `#!/bin/sh
sleep 1
echo ${tone().toString('base64')} | base64 -d > /output/tone.wav
echo "It sang $1."
`;
