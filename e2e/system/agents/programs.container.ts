import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { AgentBench, replies } from './agent-bench.js';

describe('a script in a terminal', () => {
  const bench = new AgentBench();
  beforeAll(() => bench.open());
  afterAll(() => bench.close());

  it('calls the session’s model by an SDK, within the session’s budget', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'belay-bundle-'));
    const outfile = join(folder, 'ask-model.mjs');
    const entryPoints = [join(__dirname, 'ask-model.mjs')];
    buildSync({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm' });
    const workspace = await bench.upload(outfile);
    rmSync(folder, { recursive: true });
    const question = { id: 'a1', name: 'ask', input: '{"question":"Done?"}' };
    bench.provider.answer(
      replies('', question),
      ...['One.', 'Two.', 'Three.'].map((text) => replies(text)),
    );
    const session = await bench.start({
      task: 'Wait',
      workspace,
      modelForPrograms: true,
      // Each reply has 129, and the last one before the limit may exceed it.
      budgets: { tokens: 500 },
    });
    await session.state('waiting');
    const { sessions } = bench.server.client;
    const ask5 = { command: '/opt/belay/node ask-model.mjs 5', wait: 120 };
    const { text } = await sessions.call(session.id, 'terminal.run', ask5);
    // The end of the budget ends the script.
    await session.state('limited');
    expect(text.trim().split('\n').slice(0, 3)).toEqual(['1 One.', '2 Two.', '3 Three.']);
    const ask1 = { command: '/opt/belay/node ask-model.mjs 1', wait: 120 };
    const later = await sessions.call(session.id, 'terminal.run', ask1);
    expect(later.text).toMatch(/^1 403 The session is limited/);
    expect(await sessions.get(session.id)).toMatchObject({ tokens: 516, openRequests: 0 });
    expect(bench.provider.requests).toHaveLength(4);
    session.close();
  });
});
