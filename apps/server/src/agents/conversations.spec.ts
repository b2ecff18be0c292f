import {
  array,
  assert,
  constantFrom,
  dictionary,
  jsonValue,
  oneof,
  property,
  record,
  string,
  type Arbitrary,
} from 'fast-check';
import {
  event as eventSchema,
  eventArgs,
  isCall,
  jsonFault,
  newEvent,
  sessionSettings,
} from '@belay/protocol';
import type { Event, NewEvent } from '@belay/protocol';
import type { AgentTranscript, TranscriptItem } from '../transcripts/agent-transcript.js';
import { pairedItems } from '../transcripts/paired-items.js';
import { conversationFile } from './conversation-file.js';
import { conversationItems } from './conversation-items.js';
import { importedLog } from './imported-events.js';
import { claudeCode } from './table/claude-code.js';
import { codex } from './table/codex.js';

const settings = sessionSettings.parse({ task: 'Task', model: 'scripted:x' });
const speakers = [claudeCode, codex].map((entry) => {
  if (!entry.transcripts) throw new Error(`${entry.name} has no transcripts`);
  return { ...entry, transcripts: entry.transcripts };
});

const log = (...events: NewEvent[]): Event[] =>
  events.map((event, at) => ({ time: '2026-01-02T03:04:05.000Z', ...event, seq: at + 1 }));
const start = newEvent('user', 'start', { args: settings, message: 'Task' });
const said = (text: string) =>
  newEvent('agent', 'say', { args: { text, calls: [] }, message: text });
const message = (text: string, delivery: 'queue' | 'next') =>
  newEvent('user', 'message', { args: { text, delivery }, message: text });
const call = (id: string, action: string, args: Event['args']): NewEvent => ({
  source: 'agent',
  action,
  args,
  message: action,
  id,
});
const result = (id: string, operation: string, output: unknown, ok = true) =>
  newEvent('agent', 'result', { args: { operation, ok, output, seconds: 1 }, message: '', id });
const run = (text: string, exitCode: number) => ({
  text,
  from: 0,
  to: 0,
  omittedBytes: 0,
  terminal: 'main',
  status: 'exited',
  exitCode,
  seconds: 1,
  directory: '/workspace',
});

describe('the conversation in a log', () => {
  it('has calls as the agent’s model knows them', () => {
    const events = log(
      start,
      said('I look.'),
      call('a', 'terminal.run', { command: 'ls' }),
      result('a', 'terminal.run', run('x.js\n', 2)),
      call('b', 'tool.claude-code.Edit', { file_path: '/workspace/x.js' }),
      result('b', 'tool.claude-code.Edit', { code: 'tool_failed', message: 'No.' }, false),
      call('user-1', 'files.write', { path: 'y', content: '' }),
      result('user-1', 'files.write', {}),
    );
    const [ofClaude, ofCodex] = speakers.map((speaker) => conversationItems(events, speaker));
    expect(ofClaude).toMatchObject([
      { kind: 'user', text: 'Task' },
      { kind: 'assistant', text: 'I look.' },
      { kind: 'call', tool: 'Bash', input: { command: 'ls' } },
      { kind: 'result', text: 'x.js\n[exit code 2]', ok: true },
      { kind: 'call', tool: 'Edit', input: { file_path: '/workspace/x.js' } },
      { kind: 'result', text: 'No.', ok: false },
    ]);
    expect(ofCodex?.filter(({ kind }) => kind === 'call')).toMatchObject([
      { tool: 'exec_command', input: { cmd: 'ls' } },
      { tool: 'tool.claude-code.Edit' },
    ]);
  });

  it('has messages where the agent took them, as they were then', () => {
    const events = log(
      start,
      message('Queued', 'queue'),
      message('At once', 'next'),
      message('Never taken', 'queue'),
      newEvent('user', 'edit', { args: { message: 2, text: 'Edited' }, message: '' }),
      said('Working'),
      newEvent('server', 'deliver', { args: { messages: [2, 2, 99] }, message: '' }),
      said('Done'),
    );
    const texts = conversationItems(events, speakers[0]!).map(
      (item) => 'text' in item && item.text,
    );
    expect(texts).toEqual(['Task', 'At once', 'Working', 'Edited', 'Done']);
  });

  it('is without what was rewound', () => {
    const events = log(
      start,
      said('Kept'),
      said('Undone'),
      call('a', 'terminal.run', { command: 'rm -rf x' }),
      newEvent('user', 'rewind', { args: { seq: 2, what: 'conversation' }, message: '' }),
      said('New'),
    );
    const file = conversationFile(events, claudeCode, '/workspace');
    expect(file?.text).toContain('Kept');
    expect(file?.text).toContain('New');
    expect(file?.text).not.toMatch(/Undone|rm -rf/);
  });

  it('can be cut at every event: each call has a result, and the file can be read', () => {
    const events = log(
      start,
      said('I look.'),
      call('a', 'terminal.run', { command: 'ls' }),
      call('b', 'tool.codex.apply_patch', { input: '*** Begin Patch' }),
      said('Meanwhile'),
      result('b', 'tool.codex.apply_patch', { text: 'ok' }),
      result('a', 'terminal.run', run('x', 0)),
      message('And now?', 'next'),
      said('Done'),
    );
    for (const speaker of speakers)
      for (let cut = 0; cut <= events.length; cut++) {
        const file = conversationFile(events.slice(0, cut), speaker, '/workspace');
        if (cut < 2) expect(file).toBeNull();
        if (!file) continue;
        const { items, skipped, cwd } = speaker.transcripts.format.read(file.text);
        expect({ skipped, cwd }).toEqual({ skipped: 0, cwd: '/workspace' });
        expect(items[0]).toMatchObject({ kind: 'user', text: 'Task' });
        expect(items.at(-1)?.kind).not.toBe('user');
        const calls = items.filter(({ kind }) => kind === 'call');
        const results = items.filter(({ kind }) => kind === 'result');
        expect(results).toHaveLength(calls.length);
        const isOpen = cut === 3 || cut === 4;
        expect(results.some((one) => 'text' in one && one.text === 'interrupted')).toBe(
          isOpen || cut === 5 || cut === 6,
        );
      }
  });

  it('is null for an agent without transcripts', () => {
    expect(
      conversationFile(log(start, said('Hi')), { ...codex, transcripts: null }, '/w'),
    ).toBeNull();
  });

  it('is cut to its newest part', () => {
    const long = 'x'.repeat(100_000);
    const events = log(start, ...['a', 'b', 'c', 'd', 'e'].map((name) => said(name + long)));
    const text = conversationFile(events, codex, '/workspace')?.text ?? '';
    expect(text).toContain('The beginning of the conversation is left out');
    expect(text).toContain('exxx');
    expect(text).not.toContain('axxx');
  });
});

const text = string();
const input = dictionary(string(), jsonValue({ maxDepth: 4 }));
const id = constantFrom('1', '2', '3', 'user-1', 'egress:1', '__proto__', '');
const item: Arbitrary<TranscriptItem> = oneof(
  record({
    kind: constantFrom('user' as const, 'assistant' as const),
    text,
    time: constantFrom(null, '2020-01-01T00:00:00.000Z', '2019-01-01T00:00:00.000Z'),
  }),
  record({
    kind: constantFrom('call' as const),
    id,
    tool: oneof(
      string(),
      constantFrom('Bash', 'WebFetch', '../x', 'finish', '__proto__', 'constructor'),
    ),
    input,
    time: constantFrom(null),
  }),
  record({
    kind: constantFrom('result' as const),
    id,
    text,
    ok: constantFrom(true, false),
    time: constantFrom(null),
  }),
);

describe('the log of an imported conversation', () => {
  const imported = (items: TranscriptItem[], more: Partial<AgentTranscript> = {}) => {
    const { task, events } = importedLog({ items, cwd: null, skipped: 0, ...more }, claudeCode);
    return { task, events: events({ ...settings, task }) };
  };

  it('is valid, whatever the file says', () => {
    assert(
      property(array(item, { maxLength: 30 }), (items) => {
        const { task, events } = imported(items);
        expect(task.length).toBeGreaterThan(0);
        let latest = '';
        const ids = new Set<string>();
        for (const [at, one] of events.entries()) {
          expect(eventSchema.parse(one).seq).toBe(at + 1);
          expect(one.time >= latest).toBe(true);
          latest = one.time;
          if (isCall(one.action)) {
            expect(one.action).toMatch(/^(tool\.claude-code\.[\w.-]+|terminal\.run|web\.fetch)$/);
            expect(one.id).toMatch(/^import-\d+$/);
            expect(ids.has(one.id ?? '')).toBe(false);
            ids.add(one.id ?? '');
          } else eventArgs[one.action as 'say'].parse(one.args);
        }
        expect(events[0]?.action).toBe('start');
        expect(events.at(-1)?.action).toBe('imported');
        expect(events.filter(({ action }) => action === 'result')).toHaveLength(ids.size);
      }),
    );
  });

  it('becomes the same conversation again', () => {
    assert(
      property(array(item, { maxLength: 30 }), (items) => {
        const texts = (all: readonly TranscriptItem[]) =>
          all.flatMap((one) =>
            one.kind === 'user' || one.kind === 'assistant' ? `${one.kind}: ${one.text}` : one.kind,
          );
        const paired = pairedItems(items);
        const first = paired.findIndex(({ kind }) => kind === 'user');
        if (first !== 0) return;
        const { events } = imported(items);
        expect(texts(pairedItems(conversationItems(events, speakers[0]!)))).toEqual(texts(paired));
      }),
    );
  });

  it('names no blob, and keeps to the limits of a log', () => {
    const blob = 'a'.repeat(64);
    let deep: unknown = 1;
    for (let level = 0; level < 100; level++) deep = [deep];
    const tool = (name: string, given: Record<string, unknown>): TranscriptItem => ({
      kind: 'call',
      id: name,
      tool: 'Edit',
      input: given,
      time: null,
    });
    const { events } = imported([
      { kind: 'user', text: 'x'.repeat(300_000), time: null },
      { kind: 'assistant', text: 'y'.repeat(300_000), time: null },
      tool('deep', { deep }),
      tool('long', { content: 'z'.repeat(2 ** 21), images: [blob] }),
      { kind: 'user', text: `See ${blob}`, time: null },
    ]);
    expect(events.filter(({ action }) => isCall(action))).toHaveLength(2);
    expect(events.every(({ args }) => jsonFault(args) === undefined)).toBe(true);
    const attached = events.filter(({ source }) => source === 'user');
    expect(attached.flatMap(({ args }) => args['images'])).toEqual([]);
    const said = { kind: 'assistant' as const, text: 'a', time: null };
    const long = imported(
      Array.from({ length: 30_000 }, () => said),
      { skipped: 7 },
    ).events;
    expect(long.length).toBeLessThan(20_010);
    expect(long.at(-1)).toMatchObject({
      args: { skipped: 7, leftOut: 10_000 },
      message: expect.stringContaining('7 lines were not understood. The oldest 10000'),
    });
  });
});
