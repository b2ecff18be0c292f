import type { OperationName, OperationOutput, OperationRequest } from '@belay/protocol';
import type { Page } from 'puppeteer-core';
import {
  type BelayServer,
  Chromium,
  describeSystem,
  type Followed,
  run,
  script,
  start,
} from '@belay/testkit';

const form = `<!doctype html><title>A form</title><body style="margin:0">
<button style="position:fixed;left:0;top:0;width:100%;height:20%" onclick="says.textContent='pressed'">Press</button>
<input style="position:fixed;left:0;top:25%;width:100%;height:15%" oninput="typed.textContent=value">
<p style="position:fixed;top:50%">It was <b id="says">left alone</b> and told <b id="typed">nothing</b>.</p>`;

const edit = (from: number, content: string) => ({
  operation: 'files.edit',
  input: { path: 'poem.txt', change: 'REPLACE', from, to: from, content: [content] },
});

/**
 * A session that waits for its user after it has changed a file, served a page and opened it in its browser; and a page
 * that shows the session.
 */
export interface PanelsScene {
  readonly server: BelayServer;
  readonly chromium: Chromium;
  readonly page: Page;
  readonly session: Followed;
  call<N extends OperationName>(
    operation: N,
    input: OperationRequest<N>,
  ): Promise<OperationOutput<N>>;
}

export function describePanels(title: string, tests: (scene: PanelsScene) => void): void {
  describeSystem(title, (server) => {
    const chromium = new Chromium();
    let page: Page;
    let session: Followed;
    const call = <N extends OperationName>(operation: N, input: OperationRequest<N>) =>
      server.client.sessions.call(session.id, operation, input);

    beforeAll(async () => {
      await chromium.start();
      const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
      const made = await start(server, {
        task: 'Prepare',
        model: script(server.data, [
          {
            calls: [
              { operation: 'files.write', input: { path: 'poem.txt', content: lines.join('\n') } },
            ],
          },
          { finish: 'Prepared.' },
        ]),
      });
      await made.finished();
      const archive = await server.client.sessions.export(made.id, { format: 'tar' });
      const { workspace } = await server.client.uploads.workspace(archive);
      made.close();
      const markdown = '- [x] Write the page\n- [ ] Look at it';
      session = await start(server, {
        task: 'Edit the poem',
        workspace,
        model: script(server.data, [
          {
            calls: [
              { operation: 'plan.update', input: { markdown } },
              { operation: 'files.read', input: { path: 'poem.txt' } },
              { operation: 'files.read', input: { path: 'poem.txt', from: 1, to: 3 } },
              { operation: 'files.read', input: { path: 'poem.txt', from: 20 } },
            ],
          },
          {
            calls: [
              edit(2, 'a second line that stays'),
              edit(25, 'a line that nobody wanted'),
              { operation: 'files.write', input: { path: 'site/index.html', content: form } },
              run('python3 -m http.server 8000 --directory site', {
                terminal: 'server',
                background: true,
              }),
              run('until curl --silent --fail localhost:8000 >/dev/null; do sleep 0.1; done'),
              { operation: 'browser.open', input: { url: 'http://localhost:8000' } },
              { operation: 'browser.screenshot', input: {} },
            ],
          },
          { calls: [{ operation: 'ask', input: { question: 'Is it well?' } }] },
          { expect: 'It is', finish: 'As you say.' },
          // The first is refused, for the plan is not done.
          { finish: 'As you say.' },
        ]),
      });
      page = await chromium.open(server, `/sessions/${session.id}`);
      await session.event((event) => event.action === 'ask');
    });
    afterAll(async () => {
      session.close();
      await chromium.dispose();
    });
    afterEach(() => expect(chromium.complaints).toEqual([]));

    tests({
      server,
      chromium,
      call,
      get page() {
        return page;
      },
      get session() {
        return session;
      },
    });
  });
}
