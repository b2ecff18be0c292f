import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message, ModelReply } from '@belay/protocol';
import { TestGateway, turn } from '../../testing/test-gateway.js';
import { parseScript } from './script.js';

const script = `
pace: 0
turns:
  - say: First I look at the files of the project.
    calls:
      - operation: terminal.run
        input: { command: ls }
  - expect: '"exitCode":0.*sum\\.js'
    reason: It is there.
    calls:
      - { operation: files.read, input: { path: sum.js } }
      - { operation: files.read, input: { path: sum.test.js } }
  - finish: { summary: Done, outcome: failure }
`;

describe('a scripted model', () => {
  let folder: string;
  let test: TestGateway;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-script-'));
    await writeFile(join(folder, 'a.yaml'), script);
    test = await TestGateway.open({});
    await test.session(`scripted:${join(folder, 'a.yaml')}`);
  });
  afterEach(async () => {
    await test.close();
    await rm(folder, { recursive: true });
  });
  const answered = (reply: ModelReply, output: unknown): Message[] => [
    { role: 'assistant', text: reply.text, calls: reply.calls, opaque: reply.opaque },
    {
      role: 'tool',
      results: reply.calls.map(({ id, operation }) => ({
        id,
        operation,
        output,
        failed: false,
        images: [],
      })),
    },
  ];

  it('plays its turns, whoever asks, and the same way again', async () => {
    const first = await test.generate();
    expect(first).toMatchObject({
      text: 'First I look at the files of the project.',
      calls: [{ operation: 'terminal.run', input: { command: 'ls' } }],
      finish: 'calls',
    });
    expect(test.streamed()).toBe(first.text);
    expect(test.deltas.length).toBeGreaterThan(3);
    expect(await test.generate()).toEqual(first);
    const history = answered(first, { exitCode: 0, text: 'sum.js' });
    const second = await test.generate(turn(...history));
    expect(second).toMatchObject({ text: '', reasoning: 'It is there.', calls: [{}, {}] });
    history.push(...answered(second, 'text'));
    const third = await test.generate(turn(...history));
    expect(third.calls).toMatchObject([
      { operation: 'finish', input: { summary: 'Done', outcome: 'failure' } },
    ]);
    const ids = [first, second, third].flatMap(({ calls }) => calls.map(({ id }) => id));
    expect(new Set(ids).size).toBe(4);
    // The demo is over, and the user goes on talking.
    const after = turn(...history, ...answered(third, {}), {
      role: 'user',
      text: 'More!',
      images: [],
    });
    expect(await test.generate(after)).toMatchObject({ calls: [], finish: 'stop' });
    expect((await test.logs.log.summary('s')).dollars).toBe(0);
  });

  it.each([
    ['Miles', 'Miles it is.'],
    ['Kilometres', 'As you say.'],
  ])(
    'plays the turns that are meant for the results, and passes over others: %s',
    async (answer, said) => {
      const branches = `
pace: 0
turns:
  - calls: [{ operation: ask, input: { question: 'Which unit?' } }]
  - { when: '"answer":"Miles', say: Miles it is., calls: [{ operation: think, input: { thought: a } }] }
  - { when: '"operation":"ask"', say: As you say., calls: [{ operation: think, input: { thought: b } }] }
  - { when: never, say: Never. }
  - finish: Done
`;
      await writeFile(join(folder, 'a.yaml'), branches);
      const history = answered(await test.generate(), { answer });
      const second = await test.generate(turn(...history));
      expect(second.text).toBe(said);
      history.push(...answered(second, {}));
      expect((await test.generate(turn(...history))).calls[0]?.operation).toBe('finish');
    },
  );

  it('goes on at the right turn after a compaction', async () => {
    const history = answered(await test.generate(), { exitCode: 0, text: 'sum.js' });
    history.push(...answered(await test.generate(turn(...history)), ''));
    const { text } = await test.generate({ ...turn(...history), purpose: 'compact' });
    const shortened = turn({ role: 'user', text: `Summary: ${text}`, images: [] });
    expect((await test.generate(shortened)).calls[0]?.operation).toBe('finish');
  });

  it('fails with both when the results are not what it expects', async () => {
    const history = answered(await test.generate(), { exitCode: 1, text: '' });
    await expect(test.generate(turn(...history))).rejects.toMatchObject({
      code: 'model_failed',
      message: expect.stringMatching(
        /turn 2 of the script .* expects: .*exitCode":0.*against \[{"operation":"terminal.run","failed":false,"output":{"exitCode":1/,
      ) as string,
    });
  });

  it('fails when it runs out before its end', async () => {
    await writeFile(join(folder, 'a.yaml'), 'turns:\n  - say: Hello\n');
    const first = await test.generate();
    const next = turn({ role: 'assistant', ...first }, { role: 'user', text: 'And?', images: [] });
    await expect(test.generate(next)).rejects.toThrow(/has 1 turns and ends there/);
  });

  it.each([
    ['turns:\n  - say: [', 'line 2: Flow sequence'],
    ['turns:\n  - say: Hi\n  - sya: Ho\n', 'line 3: turns[1]: '],
    [
      'turns:\n  - calls:\n      - operation: a\n      - input: {}\n',
      'line 4: turns[0].calls[1].operation: ',
    ],
    [
      'turns:\n  - say: a\n    expect: "("\n',
      'line 3: turns[0].expect: is not a regular expression',
    ],
    ['turns: []\n', 'line 1: turns: '],
    ['', 'line 1: '],
    [
      'turns:\n  - say: a\n    finish: b\n    calls: [{operation: c}]\n',
      'line 2: turns[0]: has both calls and finish',
    ],
  ])('names the line of a fault: %j', (source, where) => {
    expect(() => parseScript(source, '/a.yaml')).toThrow(
      `The script /a.yaml is malformed at ${where}`,
    );
  });

  it('prints nothing of a file that is not a script', () => {
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue();
    expect(() => parseScript('[a secret]: key\n', '/a.yaml')).toThrow('is malformed at line 1: ');
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });
});
