import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { belay, repositoryRoot } from '@belay/testkit';
import { AgentBench, bash, replies } from './agent-bench.js';

describe('several agents on one task', () => {
  const bench = new AgentBench();
  const folder = mkdtempSync(join(tmpdir(), 'belay-race-'));
  beforeAll(async () => {
    await bench.open();
    await bench.add('other', 'acp', 'acp');
    copyFileSync(join(repositoryRoot, 'e2e/own-agent.mjs'), join(folder, 'own-agent.mjs'));
    bench.provider.otherwise = ({ body, text }) => {
      const model = String(body['model']);
      const command = `echo by ${model} > made.txt`;
      const isBelay = text.includes('terminal_run');
      const run = { id: `${model}-1`, name: 'terminal_run', input: JSON.stringify({ command }) };
      if (!text.includes('echo by'))
        return replies(`I am ${model}.`, isBelay ? run : bash(`${model}-1`, command));
      const finish = { id: `${model}-2`, name: 'finish', input: '{"summary":"Made."}' };
      return isBelay ? replies('', finish) : replies('Made.');
    };
  });
  afterAll(async () => {
    await bench.close();
    rmSync(folder, { recursive: true });
  });
  const race = (agents: string, ...more: string[]) =>
    belay(bench.server.data, ['run', 'Make it', '--agents', agents, '-w', folder, ...more]);

  it('work side by side, each with its model, and one result is kept', async () => {
    const agents = ['own=openai-compatible:one', 'other=openai-compatible:two', 'belay'];
    const usual = ['--model', 'openai-compatible:three', '--approve', 'auto'];
    const ended = await race(agents.join(), ...usual, '--check', 'grep -q "^by " made.txt');
    expect(ended).toMatchObject({ code: 0 });
    const names = ['own · openai-compatible:one', 'other · openai-compatible:two'];
    for (const name of [...names, 'belay · openai-compatible:three'])
      expect(ended.stdout).toContain(name);
    expect(ended.stdout.match(/check passed: exit code 0/g)).toHaveLength(3);

    const { client } = bench.server;
    const [compared] = await client.comparisons.list();
    const sessions = compared?.sessions ?? [];
    const made = await Promise.all(
      sessions.map(async ({ id }) => client.sessions.call(id, 'files.read', { path: 'made.txt' })),
    );
    expect(made.map(({ content }) => content)).toEqual(['by one\n', 'by two\n', 'by three\n']);
    const [kept] = sessions;
    await client.comparisons.keep(compared?.id ?? '', { session: kept?.id ?? '' });
    const after = await client.comparisons.get(compared?.id ?? '');
    expect(after.sessions.map(({ archived }) => archived)).toEqual([false, true, true]);
  });

  it.each([
    ['own=openai-compatible:one', 'that makes 1 session; compare 2 to 6'],
    ['own=openai-compatible:a,own=openai-compatible:a', 'is named twice'],
    ['own=openai-compatible:a,none=openai-compatible:a', 'There is no agent “none”'],
    [
      'own=openai-compatible:a,other=scripted:example:fix-failing-test',
      'other calls its model itself',
    ],
  ])('are refused as %s before any session begins', async (agents, sentence) => {
    const before = (await bench.server.client.sessions.list()).length;
    const refused = await race(agents, '--model', 'openai-compatible:one');
    expect(refused.stderr).toContain(sentence);
    expect(refused.code).not.toBe(0);
    expect(await bench.server.client.sessions.list()).toHaveLength(before);
  });
});
