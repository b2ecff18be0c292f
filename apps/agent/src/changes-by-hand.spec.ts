import { isEvent } from '@belay/protocol';
import { ByHandBench, numbers, read, replaceLine } from './testing/by-hand-bench.js';
import { lastText } from './testing/stage.js';

describe('what the user changes by hand', () => {
  let bench: ByHandBench;
  beforeEach(() => void (bench = new ByHandBench(process.env['PATH'])));
  afterEach(() => bench.close());

  it('refuses an edit by numbers that it made false, shows the lines, and tells them in the next prompt', async () => {
    bench.play([
      { calls: [read('n.txt')] },
      async () => {
        await bench.insertByHand('u1', 'by hand');
        return { calls: [replaceLine(4, 'mine'), read('other.txt')] };
      },
      // What this number was last shown with moved; the refusal shows where.
      { calls: [replaceLine(6, 'mine')] },
      { calls: [replaceLine(6, 'mine')] },
    ]);
    await bench.stage.event('finish');
    expect(bench.result('c2-1')).toMatchObject({ ok: false, output: { code: 'conflict' } });
    expect(JSON.stringify(bench.result('c2-1'))).toContain(
      String.raw`n.txt changed since you last read it, so nothing was done.`,
    );
    expect(JSON.stringify(bench.result('c2-1'))).toContain(String.raw`2\t+by hand\n3\t line 2`);
    // The refusal showed what changed, and a prompt tells that once.
    expect(lastText(bench.stage.requests[2]!.messages)).toBe(
      'The user did this by hand: files.edit n.txt\nWhat changed is in the refusal above.',
    );
    expect(JSON.stringify(bench.stage.requests[2]!.messages).split('by hand\\').length).toBe(2);
    expect(bench.result('c3-1')).toMatchObject({ ok: false });
    expect(JSON.stringify(bench.result('c3-1'))).toContain(String.raw`6\tline 5\n7\tline 6`);
    expect(bench.result('c4-1')).toMatchObject({ ok: true });
    expect(bench.text('n.txt')).toContain('line 3\nline 4\nmine\nline 6\n');
  });

  it('is known once a prompt told it: an edit with the new numbers is made at once', async () => {
    bench.play([
      { calls: [read('n.txt')] },
      async () => (await bench.insertByHand('u1', 'by hand'), { calls: [read('other.txt')] }),
      { calls: [replaceLine(3, 'mine')] },
    ]);
    await bench.stage.event('finish');
    expect(lastText(bench.stage.requests[2]!.messages)).toBe(
      [
        'The user did this by hand: files.edit n.txt',
        'What changed, with the line numbers as they are now:',
        'n.txt:',
        '1\t line 1',
        '2\t+by hand',
        '3\t line 2',
        '4\t line 3',
      ].join('\n'),
    );
    expect(bench.result('c3-1')).toMatchObject({ ok: true });
    expect(bench.text('n.txt')).toContain('line 1\nby hand\nmine\nline 3\n');
  });

  it('refuses a replacement and a whole write over what changed, and a write over what was never read', async () => {
    const write = (path: string, more = {}) => ({
      operation: 'files.write',
      input: { path, content: 'mine\n', ...more },
    });
    bench.play([
      { calls: [read('n.txt')] },
      async () => {
        await bench.insertByHand('u1', 'by hand');
        const replace = { path: 'n.txt', find: 'line 3', replace: 'mine' };
        return {
          calls: [
            write('n.txt'),
            write('other.txt'),
            { operation: 'files.replace-text', input: replace },
          ],
        };
      },
      {
        calls: [
          write('other.txt', { overwrite: true }),
          write('new.txt'),
          write('new.txt', { content: 'again' }),
        ],
      },
    ]);
    await bench.stage.event('finish');
    expect(bench.result('c2-1')).toMatchObject({
      ok: false,
      output: { details: { path: 'n.txt', shown: true } },
    });
    expect(bench.result('c2-2')?.['output']).toMatchObject({
      code: 'conflict',
      message:
        'other.txt exists, and you have not read it: read it first, or set `overwrite` to replace it unread. Nothing was changed.',
    });
    // The first refusal showed the change of this file.
    expect(bench.result('c2-3')).toMatchObject({ ok: true });
    for (const id of ['c3-1', 'c3-2', 'c3-3']) expect(bench.result(id)).toMatchObject({ ok: true });
    expect(bench.text('other.txt')).toBe('mine\n');
  });

  it('is measured by what the model last read, also after the agent was restarted', async () => {
    bench.play([{ calls: [read('n.txt')] }, () => Promise.reject(new Error('Gone.'))]);
    await bench.stage.event('error');
    const events = [...bench.stage.log];
    await bench.leave();
    bench.put('n.txt', `changed meanwhile\n${numbers}`);
    bench.play([{ calls: [replaceLine(1, 'mine')] }, { calls: [replaceLine(2, 'mine')] }], {
      events,
    });
    await bench.stage.message('Go on');
    await bench.stage.event('finish');
    const first = bench.stage.log.filter((event) => isEvent(event, 'result'))[1]?.args;
    expect(JSON.stringify(first)).toContain(String.raw`1\t+changed meanwhile\n2\t line 1`);
    expect(bench.text('n.txt')).toContain('changed meanwhile\nmine\nline 2\n');
  });
});
