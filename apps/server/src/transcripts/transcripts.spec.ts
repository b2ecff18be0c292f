import {
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  dictionary,
  integer,
  jsonValue,
  oneof,
  property,
  record,
  string,
  type Arbitrary,
} from 'fast-check';
import { itLong } from '@belay/testing';
import type { TranscriptFormat, TranscriptItem } from './agent-transcript.js';
import { claudeCodeTranscript } from './claude-code-transcript.js';
import { codexTranscript } from './codex-transcript.js';
import { newestItems, pairedItems } from './paired-items.js';

const formats: [string, TranscriptFormat][] = [
  ['Claude Code', claudeCodeTranscript],
  ['Codex', codexTranscript],
];
const place = {
  id: '0198f1d2-0000-4000-8000-000000000001',
  cwd: '/home/me/my.project',
  now: new Date('2026-05-06T07:08:09Z'),
};

const time = constantFrom('2026-05-06T07:08:10.000Z', '2026-05-06T07:08:11.000Z');
const word = string({ minLength: 1, unit: 'grapheme' }).filter((text) => text.trim() !== '');
const id = integer({ min: 0, max: 9 }).map((number) => `call-${number}`);
const item: Arbitrary<TranscriptItem> = oneof(
  record({ kind: constantFrom('user' as const, 'assistant' as const), text: word, time }),
  record({
    kind: constantFrom('call' as const),
    id,
    tool: constantFrom('Bash', 'exec_command', 'mcp__belay__files_read'),
    input: dictionary(word, jsonValue({ maxDepth: 3 })).map(
      (value) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>,
    ),
    time,
  }),
  record({ kind: constantFrom('result' as const), id, text: string(), ok: boolean(), time }),
);
const conversation = array(item, { maxLength: 40 });

/** Without what a format does not keep: ids, and whether a result is an error. */
function comparable(items: readonly TranscriptItem[]): unknown[] {
  const ids = new Map<string, number>();
  return items.map((one) => {
    if (one.kind === 'call') ids.set(one.id, ids.size);
    if (one.kind === 'call') return { ...one, id: ids.get(one.id) };
    return one.kind === 'result' ? { ...one, id: ids.get(one.id), ok: null } : one;
  });
}

describe.each(formats)('the format of %s', (_, format) => {
  const readLines = (...lines: unknown[]) =>
    format.read(
      lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
    );

  it('keeps every conversation', async () => {
    await assert(
      asyncProperty(conversation, async (given) => {
        const items = pairedItems(given);
        const { text } = format.write(items, place);
        const read = await format.read(text);
        expect(comparable(read.items)).toEqual(comparable(items));
        expect(read).toMatchObject({ skipped: 0, cwd: items.length > 0 ? place.cwd : read.cwd });
        // A cut after any line can still be read, and continued.
        const lines = text.split('\n');
        const cut = await format.read(lines.slice(0, Math.ceil(lines.length / 2)).join('\n'));
        expectPaired(pairedItems(cut.items));
      }),
    );
  });

  it('reads anything without an error', async () => {
    const { text } = format.write(
      pairedItems([
        { kind: 'user', text: 'Do it', time: null },
        { kind: 'call', id: 'a', tool: 'Bash', input: { command: 'ls' }, time: null },
      ]),
      place,
    );
    const lines = text.trim().split('\n');
    const changed = asyncProperty(
      integer({ min: 0, max: lines.length - 1 }),
      jsonValue({ maxDepth: 6 }),
      integer({ min: 0, max: 100 }),
      async (at, value, where) => {
        const line = JSON.parse(lines[at] ?? '') as object;
        const places: { of: Record<string, unknown>; key: string }[] = [];
        const visit = (of: object) => {
          for (const [key, below] of Object.entries(of)) {
            places.push({ of: of as Record<string, unknown>, key });
            if (typeof below === 'object' && below !== null) visit(below as object);
          }
        };
        visit(line);
        const chosen = places[where % places.length];
        if (chosen) chosen.of[chosen.key] = value;
        const others = lines.toSpliced(at, 1, JSON.stringify(line));
        const { items } = await format.read(others.join('\n'));
        expectPaired(pairedItems(items));
      },
    );
    await assert(changed, { numRuns: 300 });
  });

  it('skips what it does not know, and says how much', async () => {
    const deep = `{"type":"user","message":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const read = await readLines(
      'not JSON',
      '[1]',
      'null',
      '',
      deep,
      `{"type":"user","pad":"${'x'.repeat(8 * 2 ** 20)}"}`,
      { type: 1 },
      { __proto__: null, type: 'user', message: 7 },
      '{"type":"response_item","payload":{"type":"of the future"}}',
      '{"type":"response_item","payload":{"type":[{"toString":{}}]}}',
      '{"__proto__":{"type":"user"},"constructor":1}',
    );
    expect(read.items).toEqual([]);
    expect(read.skipped).toBeGreaterThanOrEqual(8);
    expect({}).not.toHaveProperty('type');
  });

  itLong('refuses files that are too large', async () => {
    const long = format.read(' '.repeat(64 * 2 ** 20 + 1));
    await expect(long).rejects.toThrow(/at most 64 MiB/);
    await expect(format.read('{}\n'.repeat(200_001))).rejects.toThrow(/200,000 lines/);
  });

  it.each([
    ['of many small parts', { message: { content: Array(20_000).fill({}) } }],
    ['of turns that were taken back', { payload: { type: 'thread_rolled_back', num_turns: 1 } }],
    ['of one circle', { uuid: 'a', parentUuid: 'a', message: { content: [] } }],
  ])('lets other work go on while it reads a file %s', async (_, more) => {
    const type = 'message' in more ? 'assistant' : 'event_msg';
    const line = JSON.stringify({ type, ...more });
    const count = Math.min(100_000, Math.ceil((4 * 2 ** 20) / line.length));
    let isRead = false;
    const reading = readLines(...Array<string>(count).fill(line)).finally(() => (isRead = true));
    let others = 0;
    while (!isRead) {
      others += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await reading).items).toEqual([]);
    expect(others).toBeGreaterThan(8);
  });

  it('makes its own path, whatever the folder is called', () => {
    const { path } = format.write([], { ...place, cwd: '/../../etc/x\0/..' });
    expect(path).toMatch(/^[\w/-]+\.jsonl$/);
    expect(path.split('/')).not.toContain('..');
  });

  it('gives every provider ids and names that it accepts', () => {
    const call = { kind: 'call' as const, id: '../x y', tool: 'mcp.a/b c', input: {}, time: null };
    const { text } = format.write(pairedItems([call]), place);
    expect(text).toContain('"mcp_a_b_c"');
    expect(text).not.toContain('../x y');
  });
});

describe('Claude Code’s tree', () => {
  const line = (uuid: string, parentUuid: string | null, more: object) =>
    JSON.stringify({ uuid, parentUuid, isSidechain: false, ...more });
  const user = (content: unknown) => ({ type: 'user', message: { role: 'user', content } });
  const said = (id: string, ...content: unknown[]) => ({
    type: 'assistant',
    message: { id, content },
  });
  const tool = (id: string) => ({ type: 'tool_use', id, name: 'Bash', input: { command: id } });
  const read = (...lines: string[]) => claudeCodeTranscript.read(lines.join('\n'));

  it('is read along its newest branch, without what a subagent did', async () => {
    const { items } = await read(
      line('1', null, user('Task')),
      line('2', '1', said('m1', { type: 'text', text: 'Old' })),
      line('3', '1', { type: 'attachment' }),
      line('s', '3', { ...said('m9', { type: 'text', text: 'Sub' }), isSidechain: true }),
      line('4', '3', said('m2', { type: 'thinking', thinking: 'Hm', signature: 's' })),
      line('5', '4', said('m2', { type: 'text', text: 'New' })),
    );
    expect(items.map((one) => 'text' in one && one.text)).toEqual(['Task', 'New']);
  });

  it('has the results of parallel calls on side branches', async () => {
    const result = (id: string) =>
      user([
        {
          type: 'tool_result',
          tool_use_id: id,
          content: [{ type: 'text', text: id }, { type: 'image' }],
        },
      ]);
    const { items } = await read(
      line('1', null, user('Task')),
      line('2', '1', said('m1', tool('a'))),
      line('3', '2', said('m1', tool('b'))),
      line('4', '2', result('a')),
      line('5', '3', result('b')),
      line('6', '5', said('m2', { type: 'text', text: 'Done' })),
    );
    expect(
      pairedItems(items).map((one) => `${one.kind} ${'text' in one ? one.text : one.id}`),
    ).toEqual([
      'user Task',
      'call a',
      'result a\n[picture]',
      'call b',
      'result b\n[picture]',
      'assistant Done',
    ]);
  });

  it('ends where its parents form a circle', async () => {
    const { items } = await read(
      line('1', '3', user('One')),
      line('2', '1', user('Two')),
      line('3', '2', user('Three')),
    );
    expect(items).toHaveLength(3);
    const own = await read(line('1', '1', user('Own parent')));
    expect(own.items).toHaveLength(1);
  });

  it('goes on before a summary, and leaves out what the program says by itself', async () => {
    const { items } = await read(
      line('1', null, user('Before')),
      line('2', null, { type: 'system', subtype: 'compact_boundary', logicalParentUuid: '1' }),
      line('3', '2', { ...user('Summary'), isCompactSummary: true }),
      line('4', '3', { ...user('Caveat'), isMeta: true }),
    );
    expect(items.map((one) => 'text' in one && one.text)).toEqual(['Before', 'Summary']);
  });
});

describe('Codex’s items', () => {
  const line = (type: string, payload: object) => JSON.stringify({ type, payload });
  const read = (...lines: string[]) => codexTranscript.read(lines.join('\n'));
  const message = (role: string, text: string) =>
    line('response_item', { type: 'message', role, content: [{ type: 'input_text', text }] });

  it('are without what the program writes in the user’s name', async () => {
    const environment = message('user', '<environment_context>\n</environment_context>');
    const shown = line('event_msg', { type: 'user_message', message: 'Task' });
    const texts = async (...lines: string[]) =>
      (await read(...lines)).items.map((one) => 'text' in one && one.text);
    expect(
      await texts(message('developer', 'Rules'), environment, message('user', 'Task'), shown),
    ).toEqual(['Task']);
    expect(
      await texts(environment, message('user', '# AGENTS.md instructions'), message('user', 'Old')),
    ).toEqual(['Old']);
  });

  it('are without turns that the user took back', async () => {
    const turn = (text: string) => [
      line('event_msg', { type: 'user_message', message: text }),
      message('assistant', `About ${text}`),
    ];
    const back = (turns: number) =>
      line('event_msg', { type: 'thread_rolled_back', num_turns: turns });
    const texts = async (...lines: string[]) =>
      (await read(...lines)).items.map((one) => 'text' in one && one.text);
    expect(await texts(...turn('A'), ...turn('B'), back(1), ...turn('C'))).toEqual([
      'A',
      'About A',
      'C',
      'About C',
    ]);
    expect(await texts(...turn('A'), back(1e9))).toEqual([]);
  });

  it('may have calls in all their forms', async () => {
    const { items } = await read(
      line('response_item', {
        type: 'local_shell_call',
        call_id: '1',
        action: { command: ['ls'] },
      }),
      line('response_item', {
        type: 'function_call_output',
        call_id: '1',
        output: { content: 'No', success: false },
      }),
      line('response_item', {
        type: 'custom_tool_call',
        call_id: '2',
        name: 'apply_patch',
        input: '*** Begin',
      }),
      line('response_item', {
        type: 'custom_tool_call_output',
        call_id: '2',
        output: [{ type: 'input_text', text: 'Ok' }],
      }),
      line('response_item', {
        type: 'function_call',
        call_id: '3',
        name: 'x',
        arguments: '{broken',
      }),
      line('response_item', { type: 'reasoning', encrypted_content: 'secret' }),
    );
    expect(items).toEqual([
      {
        kind: 'call',
        id: '1',
        tool: 'local_shell_call',
        input: { action: { command: ['ls'] } },
        time: null,
      },
      { kind: 'result', id: '1', text: 'No', ok: false, time: null },
      { kind: 'call', id: '2', tool: 'apply_patch', input: { input: '*** Begin' }, time: null },
      { kind: 'result', id: '2', text: 'Ok', ok: true, time: null },
      { kind: 'call', id: '3', tool: 'x', input: { input: '{broken' }, time: null },
    ]);
  });
});

describe('the newest part of a conversation', () => {
  it('fits, begins with the user, and has each result after its call', () => {
    assert(
      property(conversation, integer({ min: 0, max: 200 }), (given, most) => {
        const items = pairedItems(given);
        const kept = newestItems(items, most);
        expectPaired(kept);
        if (kept.length > 0) expect(kept[0]?.kind).toBe('user');
        const size = kept
          .slice(1)
          .reduce((sum, one) => sum + ('text' in one ? one.text.length : 0), 0);
        expect(size).toBeLessThanOrEqual(most);
      }),
    );
    const items: TranscriptItem[] = [{ kind: 'user', text: 'Task', time: null }];
    expect(newestItems(items, 1_000)).toEqual(items);
  });
});

function expectPaired(items: readonly TranscriptItem[]): void {
  for (const [at, one] of items.entries()) {
    if (one.kind === 'call') expect(items[at + 1]).toMatchObject({ kind: 'result', id: one.id });
    if (one.kind === 'result') expect(items[at - 1]).toMatchObject({ kind: 'call', id: one.id });
  }
}
