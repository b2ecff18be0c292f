import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OperationName, OperationOutput, OperationRequest } from '@belay/protocol';
import { eventually } from '@belay/testing';
import type { Page } from 'puppeteer-core';
import {
  type BelayServer,
  chord,
  Chromium,
  clickOn,
  describeSystem,
  type Followed,
  repositoryRoot,
  run,
  script,
  shows,
  start,
} from '@belay/testkit';
import { panelPlaces } from './panel-places.js';

const { code } = panelPlaces;

export const lines = `${code} .view-lines`;
export const editorFocus = `${code} .monaco-editor.focused`;
const prepare = String.raw`printf '\xef\xbb\xbfone\r\ntwo\r\n' > windows.txt
printf 'caf\xe9\n' > latin1.txt
printf '\0\1\2' > bytes.bin
mkdir -p src/deep && printf 'alpha\nneedle here\n' > src/deep/found.txt
printf 'first\nsecond\n' > shared.txt
printf 'name,size\nfir,30\n' > trees.csv
printf '# All firs\n\nThey are **tall**.\n' > trees.md
printf '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><script>top.drawn = 1</script></svg>' > trees.svg
truncate --size 2200000 large.bin
touch part9.txt part10.txt`;

/** A session that waits for its user, with files of all kinds, and a page that shows it. */
export interface FilesScene {
  readonly server: BelayServer;
  readonly chromium: Chromium;
  readonly page: Page;
  readonly session: Followed;
  call<N extends OperationName>(
    operation: N,
    input: OperationRequest<N>,
  ): Promise<OperationOutput<N>>;
  textAt(path: string): Promise<string>;
  /** Waits until a file has this text. */
  holds(path: string, text: string): Promise<void>;
}

export function describeFiles(title: string, tests: (scene: FilesScene) => void): void {
  describeSystem(title, (server) => {
    const chromium = new Chromium();
    let page: Page;
    let session: Followed;
    const call = <N extends OperationName>(operation: N, input: OperationRequest<N>) =>
      server.client.sessions.call(session.id, operation, input);
    const base64Of = async (path: string) =>
      (await call('files.read', { path, encoding: 'base64' })).content;
    const textAt = async (path: string) => Buffer.from(await base64Of(path), 'base64').toString();
    const holds = (path: string, text: string) =>
      eventually(async () => expect(await textAt(path)).toBe(text));
    beforeAll(async () => {
      await chromium.start();
      const picture = readFileSync(join(repositoryRoot, 'docs/images/welcome-phone.png')).toString(
        'base64',
      );
      const model = script(server.data, [
        {
          calls: [
            run(prepare),
            {
              operation: 'files.write',
              input: { path: 'picture.png', content: picture, encoding: 'base64' },
            },
            { operation: 'ask', input: { question: 'Is it all there?' } },
          ],
        },
        { finish: 'It is.' },
      ]);
      session = await start(server, { task: 'Prepare', title: 'Files', model });
      await session.event((event) => event.action === 'ask');
      page = await chromium.open(server, `/sessions/${session.id}`);
      await shows(page, code, 'windows.txt');
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
      textAt,
      holds,
      get page() {
        return page;
      },
      get session() {
        return session;
      },
    });
  });
}

export async function typeAtStart(page: Page, text: string): Promise<void> {
  await clickOn(page, `${code} .view-line`);
  await page.waitForSelector(editorFocus);
  await chord(page, 'Control', 'Home');
  await page.keyboard.type(text);
}
