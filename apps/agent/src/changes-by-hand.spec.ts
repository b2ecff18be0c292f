import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isEvent, type Event } from '@belay/protocol';
import { readEnvironment } from './environment.js';
import { openServices } from './open-services.js';
import { lastText, Stage, type ScriptedReply } from './testing/stage.js';

const numbers = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join('\n') + '\n';
const read = (path: string) => ({ operation: 'files.read', input: { path } });
const exact = { path: 'n.txt', find: 'line 12', replace: 'line twelve' };
const runByShell = { operation: 'terminal.run', input: { command: "sed -i '1i first' n.txt" } };
const runInShell = (command: string) => ({ operation: 'terminal.run', input: { command } });
const replaceLine = (from: number, line: string) => ({
  operation: 'files.edit',
  input: { path: 'n.txt', change: 'REPLACE', from, content: [line] },
});

describe('what the user changes by hand', () => {
  let folder: string;
  let stage: Stage;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'belay-by-hand-'));
    mkdirSync(join(folder, 'workspace'));
    mkdirSync(join(folder, 'state'));
    put('n.txt', numbers);
    put('other.txt', 'precious\n');
  });
  afterEach(async () => {
    await leave();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const put = (path: string, text: string) => writeFileSync(join(folder, 'workspace', path), text);
  const text = (path: string) => readFileSync(join(folder, 'workspace', path), 'utf8');
  const leave = async () => {
    await stage.server.call('shutdown', {}).catch(() => undefined);
    await stage.close();
  };
  const play = (turns: ScriptedReply[], events?: Event[], settings = {}) => {
    const environment = readEnvironment({
      PATH: process.env['PATH'],
      HOME: folder,
      BELAY_CONNECTION: 'unix:/none',
      BELAY_WORKSPACE: join(folder, 'workspace'),
      BELAY_STATE: join(folder, 'state'),
    });
    const createServices = (session: Parameters<typeof openServices>[1]) =>
      openServices(environment, session);
    stage = new Stage({ createServices, turns, settings, ...(events && { events, epoch: 2 }) });
  };
  const result = (id: string) =>
    stage.log.find((event) => isEvent(event, 'result') && event.id === id)?.args;
  const insertByHand = (id: string, line: string) =>
    stage.call(id, 'files.edit', { path: 'n.txt', change: 'INSERT', from: 2, content: [line] });

  it('refuses an edit by numbers that it made false, shows the lines, and tells them in the next prompt', async () => {
    play([
      { calls: [read('n.txt')] },
      async () => {
        await insertByHand('u1', 'by hand');
        return { calls: [replaceLine(4, 'mine'), read('other.txt')] };
      },
      // What this number was last shown with moved; the refusal shows where.
      { calls: [replaceLine(6, 'mine')] },
      { calls: [replaceLine(6, 'mine')] },
    ]);
    await stage.event('finish');
    expect(result('c2-1')).toMatchObject({ ok: false, output: { code: 'conflict' } });
    expect(JSON.stringify(result('c2-1'))).toContain(
      String.raw`n.txt changed since you last read it, so nothing was done.`,
    );
    expect(JSON.stringify(result('c2-1'))).toContain(String.raw`2\t+by hand\n3\t line 2`);
    // The refusal showed what changed, and a prompt tells that once.
    expect(lastText(stage.requests[2]!.messages)).toBe(
      'The user did this by hand: files.edit n.txt\nWhat changed is in the refusal above.',
    );
    expect(JSON.stringify(stage.requests[2]!.messages).split('by hand\\').length).toBe(2);
    expect(result('c3-1')).toMatchObject({ ok: false });
    expect(JSON.stringify(result('c3-1'))).toContain(String.raw`6\tline 5\n7\tline 6`);
    expect(result('c4-1')).toMatchObject({ ok: true });
    expect(text('n.txt')).toContain('line 3\nline 4\nmine\nline 6\n');
  });

  it('is known once a prompt told it: an edit with the new numbers is made at once', async () => {
    play([
      { calls: [read('n.txt')] },
      async () => (await insertByHand('u1', 'by hand'), { calls: [read('other.txt')] }),
      { calls: [replaceLine(3, 'mine')] },
    ]);
    await stage.event('finish');
    expect(lastText(stage.requests[2]!.messages)).toBe(
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
    expect(result('c3-1')).toMatchObject({ ok: true });
    expect(text('n.txt')).toContain('line 1\nby hand\nmine\nline 3\n');
  });

  it('tells a rewind of the files as a diff, and what is gone', async () => {
    play([
      { calls: [read('n.txt')] },
      {
        calls: [
          replaceLine(2, 'mine'),
          { operation: 'files.write', input: { path: 'new.txt', content: 'x' } },
        ],
      },
      async () => {
        const [begin] = stage.log.filter((event) => isEvent(event, 'commit'));
        await stage.call('u1', 'workspace.rewind', { commit: begin?.args['commit'] });
        return { calls: [read('other.txt')] };
      },
    ]);
    await stage.event('finish');
    expect(text('n.txt')).toBe(numbers);
    const told = lastText(stage.requests[3]!.messages);
    expect(told).toMatch(
      /^The user did this by hand: rewound the files to “The workspace at the start” of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, which changed 2 files\.\nWhat changed/,
    );
    expect(told).toContain('1\t line 1\n\t-mine\n2\t+line 2\n3\t line 3');
    expect(told).toContain('new.txt was deleted.');
  });

  it('refuses a replacement and a whole write over what changed, and a write over what was never read', async () => {
    const write = (path: string, more = {}) => ({
      operation: 'files.write',
      input: { path, content: 'mine\n', ...more },
    });
    play([
      { calls: [read('n.txt')] },
      async () => {
        await insertByHand('u1', 'by hand');
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
    await stage.event('finish');
    expect(result('c2-1')).toMatchObject({
      ok: false,
      output: { details: { path: 'n.txt', shown: true } },
    });
    expect(result('c2-2')?.['output']).toMatchObject({
      code: 'conflict',
      message:
        'other.txt exists, and you have not read it: read it first, or set `overwrite` to replace it unread. Nothing was changed.',
    });
    // The first refusal showed the change of this file.
    expect(result('c2-3')).toMatchObject({ ok: true });
    for (const id of ['c3-1', 'c3-2', 'c3-3']) expect(result(id)).toMatchObject({ ok: true });
    expect(text('other.txt')).toBe('mine\n');
  });

  it('does not keep an exact text from being replaced, and is told with the result', async () => {
    const replace = {
      operation: 'files.replace-text',
      input: { path: 'n.txt', find: 'line 7', replace: 'mine' },
    };
    play([
      { calls: [read('n.txt')] },
      async () => (await insertByHand('u1', 'by hand'), { calls: [replace, replace] }),
      { calls: [replaceLine(3, 'by number')] },
    ]);
    await stage.event('finish');
    expect(result('c2-1')).toMatchObject({
      ok: true,
      output: { now: '6\tline 5\n7\tline 6\n8\tmine\n9\tline 8\n10\tline 9' },
    });
    expect(JSON.stringify(result('c2-1'))).toContain(String.raw`2\t+by hand\n3\t line 2`);
    expect(result('c2-2')).toMatchObject({ ok: false, output: { code: 'conflict' } });
    // The lines of the change are known by their new numbers.
    expect(result('c3-1')).toMatchObject({ ok: true });
    expect(text('n.txt')).toContain('by hand\nby number\nline 3');
  });

  it('refuses line numbers that were never read, and those beside a part that was', async () => {
    const part = (from: number, to: number) => ({
      operation: 'files.read',
      input: { path: 'n.txt', from, to },
    });
    const write = { operation: 'files.write', input: { path: 'n.txt', content: 'all mine\n' } };
    play([
      { calls: [replaceLine(2, 'blind')] },
      { calls: [{ operation: 'files.replace-text', input: exact }, part(1, 3)] },
      { calls: [replaceLine(3, 'a\nb'), replaceLine(9, 'blind'), write] },
      { calls: [replaceLine(4, 'mine'), part(5, 13)] },
      { calls: [write] },
    ]);
    await stage.event('finish');
    const message = (id: string) => result(id)?.['output'] as { message?: string };
    const shown = 'These are its lines now; call again with the numbers that fit:';
    expect(message('c1-1')).toMatchObject({
      code: 'conflict',
      message: `You have not read n.txt, so its line numbers are not known to you. Nothing was changed. ${shown}\n1\tline 1\n2\tline 2\n3\tline 3\n4\tline 4`,
    });
    for (const id of ['c2-1', 'c3-1', 'c4-1', 'c5-1'])
      expect(result(id)).toMatchObject({ ok: true });
    expect(message('c3-2').message).toContain(
      'You have read only lines 1–4, 10–12 of n.txt as it is now. Nothing was changed.',
    );
    expect(message('c3-3').message).toBe(
      'You have read only lines 1–4, 10–12 of n.txt: read the rest first, or set `overwrite` to replace it unread. Nothing was changed.',
    );
  });

  it('moves the lines that were read: those are changed by their new numbers, and no others', async () => {
    play([
      { calls: [{ operation: 'files.read', input: { path: 'n.txt', from: 8, to: 9 } }] },
      async () => {
        const content = ['a', 'b', 'c'];
        const input = { path: 'n.txt', change: 'INSERT', from: 1, content };
        await stage.call('u1', 'files.edit', input);
        return { calls: [replaceLine(8, 'mine')] };
      },
      { calls: [replaceLine(8, 'mine')] },
      { calls: [replaceLine(11, 'mine')] },
    ]);
    await stage.event('finish');
    expect(result('c2-1')).toMatchObject({ ok: false, output: { code: 'conflict' } });
    expect(JSON.stringify(result('c3-1'))).toContain('it is 11 now');
    expect(result('c4-1')).toMatchObject({ ok: true });
    expect(text('n.txt')).toContain('line 7\nmine\nline 9\n');
  });

  it('of which a part was read again counts only as far as it was', async () => {
    play([
      { calls: [read('n.txt'), runByShell] },
      { calls: [{ operation: 'files.read', input: { path: 'n.txt', from: 1, to: 2 } }] },
      { calls: [replaceLine(6, 'blind'), replaceLine(2, 'seen')] },
    ]);
    await stage.event('finish');
    expect(result('c3-1')).toMatchObject({ ok: false, output: { code: 'conflict' } });
    expect(text('n.txt')).toContain('first\nseen\nline 2\n');
  });

  it('is a plan, too, where a file keeps it: whoever changes the file changes the plan', async () => {
    const file = 'docs/DevinPlan.md';
    const update = (markdown: string) => ({ operation: 'plan.update', input: { markdown } });
    const write = (content: string) => stage.call('u1', 'files.write', { path: file, content });
    const plans = () =>
      stage.log.flatMap((event) => (isEvent(event, 'plan') ? [event.args.markdown] : []));
    play(
      [
        { calls: [update('- [ ] one')] },
        async () => (await write('- [ ] one\n- [ ] by hand'), { calls: [update('- [x] one')] }),
        { calls: [update('- [x] one\n- [ ] by hand')] },
        { calls: [runInShell(`echo '- [ ] shell' >> ${file}`)] },
        { calls: [runInShell(`rm ${file}; mkfifo ${file}`)] },
        { calls: [runInShell(`rm ${file}; head -c 200000 /dev/zero | tr '\\0' x > ${file}`)] },
      ],
      undefined,
      { planFile: file },
    );
    await stage.event('finish');
    await stage.until(() => plans().length === 5);
    expect(stage.requests[0]!.messages[0]).toMatchObject({
      text: expect.stringContaining(`plan.update keeps it in ${file} of the workspace`),
    });
    expect(plans().slice(0, 4)).toEqual([
      '- [ ] one',
      '- [ ] one\n- [ ] by hand',
      '- [x] one\n- [ ] by hand',
      '- [x] one\n- [ ] by hand- [ ] shell\n',
    ]);
    // What the user wrote is not lost: the model is shown it.
    expect(result('c2-1')).toMatchObject({ ok: false, output: { code: 'conflict' } });
    expect(JSON.stringify(result('c2-1'))).toContain('by hand');
    expect(result('c3-1')).toMatchObject({ ok: true });
    expect(plans()[4]).toHaveLength(100_000);
    const commit = stage.log.find((event) => isEvent(event, 'commit') && event.id === 'c1-1');
    expect(commit?.args['files']).toMatchObject([{ path: file }]);
  });

  it('is measured by what the model last read, also after the agent was restarted', async () => {
    play([{ calls: [read('n.txt')] }, () => Promise.reject(new Error('Gone.'))]);
    await stage.event('error');
    const events = [...stage.log];
    await leave();
    put('n.txt', `changed meanwhile\n${numbers}`);
    play([{ calls: [replaceLine(1, 'mine')] }, { calls: [replaceLine(2, 'mine')] }], events);
    await stage.message('Go on');
    await stage.event('finish');
    const first = stage.log.filter((event) => isEvent(event, 'result'))[1]?.args;
    expect(JSON.stringify(first)).toContain(String.raw`1\t+changed meanwhile\n2\t line 1`);
    expect(text('n.txt')).toContain('changed meanwhile\nmine\nline 2\n');
  });
});
