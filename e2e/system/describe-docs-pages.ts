import { join } from 'node:path';
import { describeSystem, runDocsPage, script } from '@belay/testkit';

/** Pages whose requests come from a GPT, which may not name a file of the host as its model. */
const ofGpts = ['chatgpt.md'];

/** Pages whose reader answers a question of the agent. */
const asking = ['websocket.md'];
const question = { calls: [{ operation: 'ask', input: { question: 'Which colour?' } }] };

/** Runs the commands of pages of the docs; each starts with only the server’s address and token. */
export function describeDocsPages(pages: readonly string[]): void {
  describeSystem('the commands of the docs', (server) => {
    it.each(pages)('%s', async (page) => {
      const model = script(server.data, [
        ...(asking.includes(page) ? [question] : []),
        { calls: [{ operation: 'files.write', input: { path: 'a.txt', content: 'one\n' } }] },
        { finish: 'Done.' },
        // The first finish is refused if the agent has not yet seen what the reader ran.
        { finish: 'Done.' },
      ]);
      const environment = {
        BELAY_URL: server.url,
        BELAY_TOKEN: server.token,
        BELAY_DATA: server.data,
        MODEL: ofGpts.includes(page) ? 'scripted:example:fix-failing-test' : model,
        XDG_DATA_HOME: join(server.data, 'home'),
        XDG_STATE_HOME: join(server.data, 'home'),
      };
      const ran = await runDocsPage(page, { environment });
      expect({ page, ...ran }).toEqual({ page, code: 0, output: ran.output, line: ran.line });
    });
  });
}
