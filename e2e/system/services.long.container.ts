import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isEvent } from '@belay/protocol';
import { belay, describeSystem, prepared, run, script } from '@belay/testkit';
import { write } from '../../evaluation/src/testing/fixtures.js';
import { putText, replaceStore, storeTask } from '../../evaluation/src/testing/store-task.js';

describeSystem('the services of a task', (server) => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'belay-services-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const evaluate = async (name: string, command: string) => {
    const data = write(join(folder, `${name}-data`), storeTask);
    const model = script(server.data, [{ calls: [run(command)] }, { finish: 'Changed.' }]);
    const out = join(folder, name);
    const given = ['--data', data, '--out', out, '--model', model];
    const image = ['--base-image', prepared('BELAY_TEST_IMAGE')];
    const ran = await belay(server.data, ['eval', 'run', 'harbor', ...given, ...image]);
    const trial = JSON.parse(readFileSync(join(out, 'results.jsonl'), 'utf8')) as {
      verdict: object;
      session: string;
    };
    return { ran, ...trial };
  };

  /** What the session's first command printed. */
  const outputOf = async (session: string) => {
    const events = await server.client.sessions.events(session, { after: 0 });
    const [result] = events.filter((event) => isEvent(event, 'result'));
    return (result?.args.output as { text: string } | undefined)?.text;
  };

  it('are beside the sandbox of a model, and the tests find them as it left them', async () => {
    const right = await evaluate('right', putText('changed'));
    expect(right).toMatchObject({ ran: { code: 0 }, verdict: { outcome: 'pass' } });
    const wrong = await evaluate('wrong', putText('other'));
    expect(wrong).toMatchObject({ verdict: { outcome: 'fail' } });
  });

  it('attack: the sandbox cannot answer the tests in place of a service that it made crash', async () => {
    const { session, verdict } = await evaluate('replaced', replaceStore);
    expect(await outputOf(session)).toMatch(/^changed/m);
    expect(verdict).toMatchObject({ outcome: 'fail' });
  });

  it('attack: the sandbox still has no network but its own and theirs', async () => {
    const { session } = await evaluate('alone', 'ls /sys/class/net');
    expect(await outputOf(session)).toBe('lo\n');
  });
});
