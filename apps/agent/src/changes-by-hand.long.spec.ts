import { isEvent } from '@belay/protocol';
import { ByHandBench, numbers, read, replaceLine } from './testing/by-hand-bench.js';
import { lastText } from './testing/stage.js';

const exact = { path: 'n.txt', find: 'line 12', replace: 'line twelve' };
const runInShell = (command: string) => ({ operation: 'terminal.run', input: { command } });
const runByShell = runInShell("sed -i '1i first' n.txt");

describe('what the user changes by hand', () => {
  let bench: ByHandBench;
  beforeEach(() => void (bench = new ByHandBench(process.env['PATH'])));
  afterEach(() => bench.close());

  it('tells a rewind of the files as a diff, and what is gone', async () => {
    bench.play([
      { calls: [read('n.txt')] },
      {
        calls: [
          replaceLine(2, 'mine'),
          { operation: 'files.write', input: { path: 'new.txt', content: 'x' } },
        ],
      },
      async () => {
        const [begin] = bench.stage.log.filter((event) => isEvent(event, 'commit'));
        await bench.stage.call('u1', 'workspace.rewind', { commit: begin?.args['commit'] });
        return { calls: [read('other.txt')] };
      },
    ]);
    await bench.stage.event('finish');
    expect(bench.text('n.txt')).toBe(numbers);
    const told = lastText(bench.stage.requests[3]!.messages);
    expect(told).toMatch(
      /^The user did this by hand: rewound the files to “The workspace at the start” of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, which changed 2 files\.\nWhat changed/,
    );
    expect(told).toContain('1\t line 1\n\t-mine\n2\t+line 2\n3\t line 3');
    expect(told).toContain('new.txt was deleted.');
  });

  it('does not keep an exact text from being replaced, and is told with the result', async () => {
    const replace = {
      operation: 'files.replace-text',
      input: { path: 'n.txt', find: 'line 7', replace: 'mine' },
    };
    bench.play([
      { calls: [read('n.txt')] },
      async () => (await bench.insertByHand('u1', 'by hand'), { calls: [replace, replace] }),
      { calls: [replaceLine(3, 'by number')] },
    ]);
    await bench.stage.event('finish');
    expect(bench.result('c2-1')).toMatchObject({
      ok: true,
      output: { now: '6\tline 5\n7\tline 6\n8\tmine\n9\tline 8\n10\tline 9' },
    });
    expect(JSON.stringify(bench.result('c2-1'))).toContain(String.raw`2\t+by hand\n3\t line 2`);
    expect(bench.result('c2-2')).toMatchObject({ ok: false, output: { code: 'conflict' } });
    // The lines of the change are known by their new numbers.
    expect(bench.result('c3-1')).toMatchObject({ ok: true });
    expect(bench.text('n.txt')).toContain('by hand\nby number\nline 3');
  });

  it('refuses line numbers that were never read, and those beside a part that was', async () => {
    const part = (from: number, to: number) => ({
      operation: 'files.read',
      input: { path: 'n.txt', from, to },
    });
    const write = { operation: 'files.write', input: { path: 'n.txt', content: 'all mine\n' } };
    bench.play([
      { calls: [replaceLine(2, 'blind')] },
      { calls: [{ operation: 'files.replace-text', input: exact }, part(1, 3)] },
      { calls: [replaceLine(3, 'a\nb'), replaceLine(9, 'blind'), write] },
      { calls: [replaceLine(4, 'mine'), part(5, 13)] },
      { calls: [write] },
    ]);
    await bench.stage.event('finish');
    const message = (id: string) => bench.result(id)?.['output'] as { message?: string };
    const shown = 'These are its lines now; call again with the numbers that fit:';
    expect(message('c1-1')).toMatchObject({
      code: 'conflict',
      message: `You have not read n.txt, so its line numbers are not known to you. Nothing was changed. ${shown}\n1\tline 1\n2\tline 2\n3\tline 3\n4\tline 4`,
    });
    for (const id of ['c2-1', 'c3-1', 'c4-1', 'c5-1'])
      expect(bench.result(id)).toMatchObject({ ok: true });
    expect(message('c3-2').message).toContain(
      'You have read only lines 1–4, 10–12 of n.txt as it is now. Nothing was changed.',
    );
    expect(message('c3-3').message).toBe(
      'You have read only lines 1–4, 10–12 of n.txt: read the rest first, or set `overwrite` to replace it unread. Nothing was changed.',
    );
  });

  it('moves the lines that were read: those are changed by their new numbers, and no others', async () => {
    bench.play([
      { calls: [{ operation: 'files.read', input: { path: 'n.txt', from: 8, to: 9 } }] },
      async () => {
        const content = ['a', 'b', 'c'];
        const input = { path: 'n.txt', change: 'INSERT', from: 1, content };
        await bench.stage.call('u1', 'files.edit', input);
        return { calls: [replaceLine(8, 'mine')] };
      },
      { calls: [replaceLine(8, 'mine')] },
      { calls: [replaceLine(11, 'mine')] },
    ]);
    await bench.stage.event('finish');
    expect(bench.result('c2-1')).toMatchObject({ ok: false, output: { code: 'conflict' } });
    expect(JSON.stringify(bench.result('c3-1'))).toContain('it is 11 now');
    expect(bench.result('c4-1')).toMatchObject({ ok: true });
    expect(bench.text('n.txt')).toContain('line 7\nmine\nline 9\n');
  });

  it('of which a part was read again counts only as far as it was', async () => {
    bench.play([
      { calls: [read('n.txt'), runByShell] },
      { calls: [{ operation: 'files.read', input: { path: 'n.txt', from: 1, to: 2 } }] },
      { calls: [replaceLine(6, 'blind'), replaceLine(2, 'seen')] },
    ]);
    await bench.stage.event('finish');
    expect(bench.result('c3-1')).toMatchObject({ ok: false, output: { code: 'conflict' } });
    expect(bench.text('n.txt')).toContain('first\nseen\nline 2\n');
  });

  it('is a plan, too, where a file keeps it: whoever changes the file changes the plan', async () => {
    const file = 'docs/DevinPlan.md';
    const update = (markdown: string) => ({ operation: 'plan.update', input: { markdown } });
    const write = (content: string) =>
      bench.stage.call('u1', 'files.write', { path: file, content });
    const plans = () =>
      bench.stage.log.flatMap((event) => (isEvent(event, 'plan') ? [event.args.markdown] : []));
    bench.play(
      [
        { calls: [update('- [ ] one')] },
        async () => (await write('- [ ] one\n- [ ] by hand'), { calls: [update('- [x] one')] }),
        { calls: [update('- [x] one\n- [ ] by hand')] },
        { calls: [runInShell(`echo '- [ ] shell' >> ${file}`)] },
        { calls: [runInShell(`rm ${file}; mkfifo ${file}`)] },
        { calls: [runInShell(`rm ${file}; head -c 200000 /dev/zero | tr '\\0' x > ${file}`)] },
      ],
      { planFile: file },
    );
    await bench.stage.event('finish');
    await bench.stage.until(() => plans().length === 5);
    expect(bench.stage.requests[0]!.messages[0]).toMatchObject({
      text: expect.stringContaining(`plan.update keeps it in ${file} of the workspace`),
    });
    expect(plans().slice(0, 4)).toEqual([
      '- [ ] one',
      '- [ ] one\n- [ ] by hand',
      '- [x] one\n- [ ] by hand',
      '- [x] one\n- [ ] by hand- [ ] shell\n',
    ]);
    // What the user wrote is not lost: the model is shown it.
    expect(bench.result('c2-1')).toMatchObject({ ok: false, output: { code: 'conflict' } });
    expect(JSON.stringify(bench.result('c2-1'))).toContain('by hand');
    expect(bench.result('c3-1')).toMatchObject({ ok: true });
    expect(plans()[4]).toHaveLength(100_000);
    const commit = bench.stage.log.find((event) => isEvent(event, 'commit') && event.id === 'c1-1');
    expect(commit?.args['files']).toMatchObject([{ path: file }]);
  });
});
