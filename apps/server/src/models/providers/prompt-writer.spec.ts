import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message } from '@belay/protocol';
import { sampled } from '@belay/testing';
import { Config } from '../../config.js';
import type { Model } from '../model.js';
import { openModel } from '../open-model.js';
import { ProviderServer, streaming } from '../testing/provider-server.js';
import { wires, type ProviderWire } from '../testing/provider-wires.js';
import { toPrompt } from './prompt.js';
import type { SdkProvider } from './sdk-provider.js';
import { PromptWriter } from './prompt-writer.js';

const picture = 'a'.repeat(64);
const blob = async () => ({ type: 'image/png', bytes: new Uint8Array([137, 80, 78, 71]) });
const signal = new AbortController().signal;

/** What the model of a provider may write, with what only the provider understands. */
const opaque: Record<ProviderWire['provider'], object> = {
  openai: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'sealed-1' } },
  anthropic: { anthropic: { signature: 'signed-1' } },
  google: { google: { thoughtSignature: 'signed-1' } },
  'openai-compatible': { 'openai-compatible': { any: 1 } },
};

/** A turn of a session, each of its kind. */
function turn(provider: ProviderWire['provider'], number: number): Message[] {
  const ids = Array.from({ length: 1 + (number % 3) }, (_, call) => `call ${number}/${call}`);
  const text = [`Step ${number}.`, '', ' ä\u2028"\\ \ud800 ', 'Two\nlines\n'][number % 4] ?? '';
  const reasoning = number % 5 === 0 ? `Because ${number}.` : undefined;
  const metadata = opaque[provider];
  const parts = [
    ...(reasoning ? [{ type: 'reasoning', length: reasoning.length, metadata }] : []),
    ...(text ? [{ type: 'text', length: text.length }] : []),
    ...ids.map(() => ({ type: 'call', ...(number % 2 === 0 && { metadata }) })),
  ];
  const input = { path: `${number}`, '10': [1e21, -0, null], '2': { messages: ['","', '{}'] } };
  const calls = ids.map((id) => ({ id, operation: 'files.read', input }));
  const results = ids.map((id, call) => ({
    id,
    operation: 'files.read',
    output: { content: `line ${number}\n\tof "${call}"\n`.repeat(1 + (number % 7)) },
    failed: number % 6 === 0,
    images: number % 17 === 0 ? [picture] : [],
  }));
  const said = number % 4 === 0 ? { opaque: { provider, parts }, reasoning } : {};
  const more: Message[] = [
    { role: 'user', text: `Also ${number}`, images: number % 20 === 0 ? [picture] : [] },
    { role: 'assistant', text: 'No call.', calls: [] },
    { role: 'user', text: 'You called no operation.', images: [] },
    { role: 'assistant', text: '', calls: [] },
    { role: 'user', text: '', images: [] },
  ];
  return [
    { role: 'assistant', text, calls, ...said },
    { role: 'tool', results },
    ...(number % 9 === 0 ? more.slice(0, 1 + (number % 5)) : []),
  ];
}

const start: Message[] = [
  { role: 'system', text: 'You are an agent.' },
  { role: 'user', text: 'Fix the sum.', images: [] },
];

const named = [
  ...wires.map((wire): [string, ProviderWire] => [wire.model, wire]),
  ...wires
    .filter(({ provider }) => provider === 'google')
    .flatMap((wire) =>
      ['google:gemini-3-pro', 'google:gemma-3-27b-it'].map((model): [string, ProviderWire] => [
        model,
        { ...wire, model },
      ]),
    ),
];

describe.each(sampled(1, named))('a prompt of %s that grows', (_, wire) => {
  let server: ProviderServer;
  let data: string;
  beforeEach(async () => {
    server = await ProviderServer.open();
    data = mkdtempSync(join(tmpdir(), 'belay-prompt-'));
  });
  afterEach(async () => {
    await server.close();
    rmSync(data, { recursive: true });
  });
  const opened = (): Model =>
    openModel(
      wire.model,
      Object.assign(new Config({ BELAY_DATA: data, ...wire.environment(server.url) }), {
        listTimeoutMs: 300_000,
      }),
    );
  const send = async (model: Model, messages: Message[], purpose: 'turn' | 'compact' = 'turn') => {
    server.answer(streaming(wire.reply({ text: 'Yes.' })));
    const request = { purpose, messages, operations: ['terminal.run', 'files.read'] };
    await model.generate(request, {
      session: 's',
      tools: [],
      actions: [],
      signal,
      delta: () => {},
      blob,
    });
    const sent = server.requests.at(-1)!;
    return { ...sent.headers, text: sent.text };
  };

  it('is the same bytes as when it is written whole', async () => {
    const kept = opened();
    const messages = [...start];
    for (let number = 1; number <= 60; number++) {
      messages.push(...turn(wire.provider, number));
      const purpose = number % 25 === 0 ? 'compact' : 'turn';
      const whole = await send(opened(), messages, purpose);
      expect(await send(kept, messages, purpose)).toEqual(whole);
    }
    expect(server.requests.at(-1)?.headers).not.toHaveProperty('transfer-encoding');
  });

  it('is written in the part that is new', async () => {
    const [kept, messages] = [opened(), [...start]];
    const numbers = Array.from({ length: 60 }, (__, index) => 17 * 20 * index + 1);
    for (const number of numbers) {
      messages.push(...turn(wire.provider, number));
      await send(kept, messages);
    }
    const stringify = jest.spyOn(JSON, 'stringify');
    const { text } = await send(kept, messages);
    const longest = Math.max(...stringify.mock.results.map(({ value }) => String(value).length));
    stringify.mockRestore();
    expect(longest).toBeLessThan(text.length / 2);
  });
});

describe('a prompt that grows, of a provider that numbers its messages', () => {
  it('is written whole', async () => {
    const bodies: unknown[] = [];
    const writer = new PromptWriter(async (_, init) => {
      bodies.push(JSON.parse(Buffer.from(init?.body as Uint8Array).toString()));
      return new Response();
    });
    const provider: SdkProvider = {
      name: 'openai',
      model: null as never,
      listOfMessages: 'input',
      picturesInResults: true,
    };
    const messages = [...start];
    for (let number = 1; number <= 40; number++) {
      messages.push(...turn('openai', 2 * number + 1));
      await writer.send({ provider, messages, blob }, (prompt) => {
        const input = prompt.map((message, index) => ({ ...message, index }));
        return writer.fetch('http://provider', { body: JSON.stringify({ input }) });
      });
    }
    expect(bodies).toHaveLength(40);
    const last = bodies.at(-1) as { input: { index: number; role: string }[] };
    expect(last.input.map(({ index }) => index)).toEqual(last.input.map((__, index) => index));
    expect(last.input).toHaveLength((await toPrompt(messages, provider, blob)).length);
  });
});
