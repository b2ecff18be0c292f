import {
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  nat,
  record,
  shuffledSubarray,
} from 'fast-check';
import type { WireFormatName } from '@belay/protocol';
import {
  anthropicMessages,
  chatCompletions,
  googleGenerate,
  openaiResponses,
  type ProviderWire,
} from '../testing/provider-wires.js';
import { callFormats } from './call-formats.js';
import { EventFrames, messageIn } from './event-frames.js';
import { HeldReply } from './held-reply.js';
import type { Refusal, HeldCall } from './held-call.js';

const wires: [WireFormatName, ProviderWire][] = [
  ['messages', anthropicMessages],
  ['responses', openaiResponses],
  ['chat', chatCompletions],
  ['gemini', googleGenerate],
];

/** A reply on its way, whose calls the test decides. */
class Stage {
  readonly asked = new Map<string, (refusal: Refusal | null) => void>();
  readonly out: Buffer[] = [];
  readonly held: HeldReply;
  readonly pinged: string[] = [];

  constructor(name: WireFormatName, { pingMs = 100_000, paused = Promise.resolve() } = {}) {
    this.held = new HeldReply({
      format: callFormats[name],
      decide: (call: HeldCall) =>
        new Promise((resolve) => this.asked.set(call.name || call.id, resolve)),
      write: async (bytes) => void this.out.push(Buffer.from(bytes)),
      ping: ': ping\n\n',
      working: () => paused,
      signal: new AbortController().signal,
      pingMs,
    });
  }

  get text(): string {
    return Buffer.concat(this.out).toString();
  }

  async add(events: readonly string[]): Promise<void> {
    const frames = new EventFrames();
    for (const event of events)
      for (const frame of frames.add(Buffer.from(event)))
        await this.held.add(frame, messageIn(frame));
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const callNamed = (name: string) => ({
  id: `id-${name}`,
  name,
  input: JSON.stringify({ a: `input-${name}` }),
});
const refusal = (name: string): Refusal => ({
  text: `No ${name}.`,
  standIn: { tool: 'shell', input: { command: `no-${name}` } },
});

describe.each(wires)('a held reply in the format %s', (format, wire) => {
  it('lets no byte of a call leave before its verdict, and never one of a refused call', async () => {
    const names = ['one', 'two', 'three'];
    const cases = record({
      text: constantFrom(undefined, 'Looking.'),
      reasoning: constantFrom(undefined, 'Hm.'),
      calls: shuffledSubarray(names),
      order: shuffledSubarray(names, { minLength: 3 }),
      isAllowed: record({ one: boolean(), two: boolean(), three: boolean() }),
      /** After which frames verdicts come. */
      times: array(nat(40), { maxLength: 3 }),
    });
    const run = asyncProperty(
      cases,
      async ({ text, reasoning, calls, order, isAllowed, times }) => {
        const events = wire.reply({
          ...(text !== undefined && { text }),
          ...(reasoning !== undefined && { reasoning }),
          calls: calls.map(callNamed),
        });
        const stage = new Stage(format);
        const decided = new Set<string>();
        const decideNext = async () => {
          const next = order.find((name) => stage.asked.has(name) && !decided.has(name));
          if (next === undefined) return false;
          decided.add(next);
          const isOne = isAllowed[next as keyof typeof isAllowed];
          stage.asked.get(next)?.(isOne ? null : refusal(next));
          await settled();
          return true;
        };
        const check = () => {
          for (const name of calls) {
            if (decided.has(name) && isAllowed[name as keyof typeof isAllowed]) continue;
            // The wires write an input in two halves.
            for (const mark of [`id-${name}`, `ut-${name}`]) expect(stage.text).not.toContain(mark);
          }
        };
        for (const [at, event] of events.entries()) {
          await stage.add([event]);
          if (times.includes(at)) await decideNext();
          check();
        }
        const finished = stage.held.finish();
        await settled();
        while (await decideNext());
        await finished;
        for (const name of calls) {
          const isOne = isAllowed[name as keyof typeof isAllowed];
          expect(stage.text.includes(`"no-${name}`) || stage.text.includes(`no-${name}\\"`)).toBe(
            !isOne,
          );
        }
        if (calls.every((name) => isAllowed[name as keyof typeof isAllowed]))
          expect(stage.text).toBe(events.join(''));
        stage.held.close();
      },
    );
    await assert(run, { numRuns: 25 });
  });

  it('passes text on at once, and allowed calls while nobody is asked', async () => {
    const events = wire.reply({ text: 'Looking.', calls: [callNamed('one')] });
    const stage = new Stage(format);
    await stage.add(events);
    expect(stage.text).toContain('Look');
    expect(stage.text).not.toContain('id-one');
    stage.asked.get('one')?.(null);
    await settled();
    expect(stage.text).toBe(events.join(''));
    await stage.held.finish();
    stage.held.close();
  });

  it('keeps its client alive, and waits for the end of a pause', async () => {
    const pause = Promise.withResolvers<void>();
    const stage = new Stage(format, { pingMs: 1, paused: pause.promise });
    const events = wire.reply({ calls: [callNamed('one')] });
    await stage.add(events);
    while (!stage.text.includes(': ping')) await settled();
    stage.asked.get('one')?.(null);
    await settled();
    expect(stage.text).not.toContain('id-one');
    pause.resolve();
    await stage.held.finish();
    stage.held.close();
    expect(stage.text.replaceAll(': ping\n\n', '')).toBe(events.join(''));
  });

  it('replaces a call by a text where the program has no shell, and its message then ends', async () => {
    const stage = new Stage(format);
    await stage.add(wire.reply({ text: 'Looking.', calls: [callNamed('one'), callNamed('two')] }));
    const finished = stage.held.finish();
    for (const name of ['one', 'two'])
      stage.asked.get(name)?.({ text: `No ${name}.`, standIn: null });
    await finished;
    expect(stage.text).toContain('No one.');
    expect(stage.text).toContain('No two.');
    expect(stage.text).not.toMatch(/tool_use"|"tool_calls"|functionCall|function_call/);
    stage.held.close();
  });
});

it('gives a program whose only tool takes a text a stand-in that is one', async () => {
  const { reply } = openaiResponses;
  const stage = new Stage('responses');
  await stage.add(reply({ calls: [{ ...callNamed('exec'), isCustom: true }] }));
  stage.asked.get('exec')?.({ text: 'No.', standIn: { tool: 'exec', input: 'throw 1' } });
  await stage.held.finish();
  expect(stage.text).toContain('"type":"custom_tool_call","input":"throw 1"');
  expect(stage.text).not.toContain('input-exec');
});

describe('attacks: replies that are not what they seem', () => {
  it('tools of two namespaces are not the same, whatever they are called', async () => {
    const { reply } = openaiResponses;
    const stage = new Stage('responses');
    const namespaces = ['functions', 'mcp__evil'];
    const calls = namespaces.map((namespace) => ({
      ...callNamed('update_plan'),
      id: namespace,
      namespace,
    }));
    await stage.add(reply({ calls }));
    expect([...stage.asked.keys()]).toEqual(['update_plan', 'mcp__evil__update_plan']);
    stage.held.close();
  });

  it.each<[string, WireFormatName, object[]]>([
    [
      'a block that begins again',
      'messages',
      [
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'tool_use', id: 'a', name: 'one', input: {} },
        },
        { type: 'content_block_stop', index: 0 },
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'tool_use', id: 'b', name: 'two', input: {} },
        },
      ],
    ],
    [
      'an input that goes on after its end',
      'messages',
      [
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'tool_use', id: 'a', name: 'one', input: {} },
        },
        { type: 'content_block_stop', index: 0 },
        {
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'input_json_delta', partial_json: '{"b":1}' },
        },
      ],
    ],
    [
      'an end that repeats another call',
      'responses',
      [
        {
          type: 'response.output_item.done',
          output_index: 0,
          item: { type: 'function_call', call_id: 'a', name: 'one', arguments: '{}' },
        },
        {
          type: 'response.completed',
          response: {
            output: [{ type: 'function_call', call_id: 'a', name: 'one', arguments: '{"b":1}' }],
          },
        },
      ],
    ],
    [
      'a piece after the end',
      'chat',
      [
        {
          choices: [
            {
              delta: {
                tool_calls: [{ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } }],
              },
              finish_reason: 'tool_calls',
            },
          ],
        },
        { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: ' ' } }] } }] },
      ],
    ],
  ])('%s in %s breaks the stream off', async (_, format, messages) => {
    const stage = new Stage(format);
    const frames = messages.map((message) => `data: ${JSON.stringify(message)}\n\n`);
    await stage.add(frames.slice(0, -1));
    stage.asked.get('one')?.(null);
    await settled();
    expect(stage.text).toBe(frames.slice(0, -1).join(''));
    await expect(stage.add(frames.slice(-1))).rejects.toThrow('changes a call after its end');
    stage.held.close();
  });

  it('an item whose pieces say something else than its end cannot be read as a call', async () => {
    const reader = callFormats.responses.reader();
    const item = { type: 'function_call', call_id: 'a', name: 'one', arguments: '' };
    const at = { output_index: 0 };
    reader.read({ type: 'response.output_item.added', ...at, item });
    reader.read({
      type: 'response.function_call_arguments.delta',
      ...at,
      delta: '{"command":"rm"}',
    });
    const done = { ...item, arguments: '{"command":"ls"}' };
    reader.read({ type: 'response.output_item.done', ...at, item: done });
    expect(reader.calls.get('0')?.input).toBe('two inputs');
  });

  it('many frames and too many calls cost no more than their bytes', async () => {
    const stage = new Stage('messages');
    const frame = Buffer.from('data: {"type":"content_block_delta","index":7}\n\n');
    const message = { type: 'content_block_delta', index: 7, delta: { partial_json: 'a' } };
    for (let count = 0; count < 20_000; count++) await stage.held.add(frame, message);
    expect(stage.out).toHaveLength(20_000);
    const start = (index: number) => ({
      type: 'content_block_start',
      index,
      content_block: { type: 'tool_use', id: `${index}`, name: `${index}` },
    });
    const many = async () => {
      for (let index = 0; index < 200; index++) await stage.held.add(frame, start(index));
    };
    await expect(many()).rejects.toThrow('too many calls');
    stage.held.close();
  });

  it('32 MiB of arguments are not kept', async () => {
    const stage = new Stage('messages');
    const start = {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'a', name: 'one' },
    };
    const delta = {
      type: 'content_block_delta',
      index: 0,
      delta: { partial_json: 'a'.repeat(2 ** 20) },
    };
    await stage.add([`data: ${JSON.stringify(start)}\n\n`]);
    const more = stage.add(Array.from({ length: 32 }, () => `data: ${JSON.stringify(delta)}\n\n`));
    await expect(more).rejects.toThrow('too large to be checked');
    expect(stage.text).toBe('');
    stage.held.close();
  });
});
