import { gzipSync, zstdCompressSync } from 'node:zlib';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { WireFormatName } from '@belay/protocol';
import { until } from '@belay/testing';
import {
  failedResponse,
  modelList,
  streaming,
  type ProviderServer,
} from '../testing/provider-server.js';
import {
  anthropicMessages,
  chatCompletions,
  googleGenerate,
  openaiResponses,
  type ProviderWire,
} from '../testing/provider-wires.js';
import { WireBench } from '../testing/wire-bench.js';

interface Case {
  wire: ProviderWire;
  path: string;
  upstream: string;
  request: object;
  /** The model of the SDK in a program of the sandbox. */
  sdk(url: (path: string) => string): LanguageModelV4;
  credential: string;
}

const apiKey = 'token-of-the-sandbox';
const tool = { name: 'bash', description: 'Runs a command.' };
const parameters = { type: 'object', properties: { command: { type: 'string' } } };

const cases: Record<WireFormatName, Case> = {
  messages: {
    wire: anthropicMessages,
    path: '/anthropic/v1/messages?beta=true',
    upstream: '/v1/messages?beta=true',
    request: {
      model: 'claude-sonnet-4-5-20250929',
      stream: true,
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ ...tool, input_schema: parameters }],
    },
    sdk: (url) =>
      createAnthropic({ apiKey, baseURL: url('/anthropic/v1') }).languageModel('claude-sonnet-4-5'),
    credential: 'x-api-key',
  },
  responses: {
    wire: openaiResponses,
    path: '/openai/v1/responses',
    upstream: '/v1/responses',
    request: {
      model: 'gpt-5',
      stream: true,
      input: [{ role: 'user', content: 'Hi' }],
      tools: [{ type: 'function', ...tool, parameters }],
    },
    sdk: (url) => createOpenAI({ apiKey, baseURL: url('/openai/v1') }).responses('gpt-5'),
    credential: 'authorization',
  },
  chat: {
    wire: chatCompletions,
    path: '/openai/v1/chat/completions',
    upstream: '/v1/chat/completions',
    request: {
      model: 'local',
      stream: true,
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ type: 'function', function: { ...tool, parameters } }],
    },
    sdk: (url) =>
      createOpenAICompatible({
        name: 'belay',
        apiKey,
        baseURL: url('/openai/v1'),
        includeUsage: true,
      }).languageModel('local'),
    credential: 'authorization',
  },
  gemini: {
    wire: googleGenerate,
    path: '/gemini/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse&key=stolen',
    upstream: '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
    request: {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      tools: [{ functionDeclarations: [{ ...tool, parameters }] }],
    },
    sdk: (url) =>
      createGoogle({ apiKey, baseURL: url('/gemini/v1beta') }).languageModel('gemini-2.5-pro'),
    credential: 'x-goog-api-key',
  },
};

describe.each(Object.entries(cases))('the format %s', (format, one) => {
  const { wire, path, request } = one;
  let provider: ProviderServer;
  let bench: WireBench;
  beforeEach(async () => {
    bench = await WireBench.open(wire);
    ({ provider } = bench);
  });
  afterEach(() => bench.close());
  const call = { id: 'call_1', name: 'bash', input: '{"command":"ls -l"}' };
  const reply = () =>
    wire.reply({ text: 'Größe: 5 – gut.', reasoning: 'Adding up…', calls: [call] });

  it('passes bytes on in both directions, with the server’s key, and settles what was used', async () => {
    await bench.session();
    provider.answer(streaming(reply()));
    const response = await bench.post(path, request, {
      headers: {
        authorization: 'Bearer stolen',
        'x-api-key': 'stolen',
        'x-goog-api-key': 'stolen',
        cookie: 'a=1',
        'anthropic-beta': 'interleaved-thinking',
        'user-agent': 'a-cli/1',
      },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await response.text()).toBe(reply().join(''));
    const [sent] = provider.requests;
    expect(sent?.text).toBe(JSON.stringify(request));
    expect(sent?.path).toBe(one.upstream);
    expect(sent?.headers[one.credential]).toContain('key-1');
    expect(JSON.stringify(sent?.headers)).not.toContain('stolen');
    expect(sent?.headers).not.toHaveProperty('cookie');
    expect(sent?.headers).toMatchObject({
      'anthropic-beta': 'interleaved-thinking',
      'user-agent': 'a-cli/1',
      'accept-encoding': 'identity',
    });
    const [asked] = await bench.events('request');
    await until('it is settled', async () => (await bench.events('usage')).length === 1);
    const [used] = await bench.events('usage');
    expect(asked?.args).toMatchObject({ format, model: wire.model, purpose: 'turn', tools: 1 });
    expect(used?.args).toMatchObject({
      request: asked?.args.request,
      inputTokens: 120,
      cachedTokens: 20,
      outputTokens: 9,
      purpose: 'turn',
    });
    expect(used?.args).not.toHaveProperty('estimated');
    expect(await bench.logs.log.summary('s')).toMatchObject({
      steps: 1,
      tokens: 129,
      openRequests: 0,
    });
  });

  it('serves the SDK of its provider', async () => {
    await bench.session();
    provider.answer(streaming(reply()));
    const { stream } = await one
      .sdk((at) => bench.url(at))
      .doStream({
        prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
        tools: [{ type: 'function', ...tool, inputSchema: parameters as never }],
      });
    let written = '';
    const calls: string[] = [];
    for await (const part of stream) {
      if (part.type === 'text-delta') written += part.delta;
      if (part.type === 'tool-call') calls.push(part.input);
    }
    expect(written).toBe('Größe: 5 – gut.');
    expect(calls).toEqual([call.input]);
  });

  it('passes on errors of the provider, and settles them as free', async () => {
    await bench.session();
    const error = wire.error('Slow down.', 'rate_limit_error');
    provider.answer(failedResponse(429, error, { 'retry-after': '7', 'x-secret': 'no' }));
    const response = await bench.post(path, request);
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(response.headers.has('x-secret')).toBe(false);
    expect(await response.json()).toEqual(error);
    await until('it is settled', async () => (await bench.events('usage')).length === 1);
    expect(await bench.logs.log.summary('s')).toMatchObject({ steps: 0, tokens: 0 });
  });

  it('never shows the server’s key, nor that it was refused as the client’s', async () => {
    await bench.session();
    provider.answer(
      failedResponse(401, wire.error('Incorrect API key provided: key-1.')),
      failedResponse(400, wire.error('Bad key-1 in a header.')),
      streaming([...reply().slice(0, 2), 'data: {"echo":"key-1"}\n\n']),
    );
    const refused = await bench.post(path, request);
    expect(refused.status).toBe(403);
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(await refused.text()).toContain('refused the key: check it under Settings → Models');
    expect((await bench.post(path, request)).status).toBe(403);
    await (await bench.post(path, request)).text();
    expect(provider.requests).toHaveLength(3);
    expect(Buffer.concat(bench.received).toString()).not.toContain('key-1');
    const log = JSON.stringify(await bench.logs.log.read('s', { after: 0 }));
    expect(log).not.toContain('key-1');
  });

  it('ends the provider’s request when its client leaves, and counts it', async () => {
    await bench.session();
    provider.answer(streaming(reply().slice(0, -2), 'open'));
    const leave = new AbortController();
    const response = await bench.post(path, request, { signal: leave.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    leave.abort();
    await provider.abandoned.promise;
    await until('it is settled', async () => (await bench.events('usage')).length === 1);
    const [used] = await bench.events('usage');
    expect(used?.args).toMatchObject({ estimated: true });
    expect((await bench.logs.log.summary('s')).steps).toBe(1);
    expect((await bench.logs.log.summary('s')).tokens).toBeGreaterThan(10);
  });

  it('breaks off the reply that the provider broke off', async () => {
    await bench.session();
    provider.answer(streaming(reply().slice(0, 3), 'cut'));
    const response = await bench.post(path, request);
    await expect(response.text()).rejects.toThrow();
    await until('it is settled', async () => (await bench.events('usage')).length === 1);
  });

  it('refuses other models, hosted tools and unreadable bodies in its own words', async () => {
    await bench.session({ approvals: 'ask' });
    const other =
      format === 'gemini'
        ? bench.post(path.replace('gemini-2.5-pro', 'gemini-2.5-flash'), request)
        : bench.post(path, { ...request, model: 'another' });
    expect((await other).status).toBe(404);
    expect(JSON.stringify(await (await other).json())).toContain('is not open in this session');
    const hosted = format === 'gemini' ? { google_search: {} } : { type: 'web_search_20250305' };
    const refused = await bench.post(path, { ...request, tools: [hosted] });
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain('runs at the provider');
    expect((await bench.post(path, '{"a":')).status).toBe(400);
    expect(
      (await bench.post(path, JSON.stringify(request).replace('{', '{"tools":[],'))).status,
    ).toBe(400);
    expect(
      (await bench.post(path, JSON.stringify(request).replace('{', '{"Tools":[],'))).status,
    ).toBe(400);
    expect(provider.requests).toEqual([]);
    // The control: the same request without these is passed on, and hosted tools are where a mode or rule allows them.
    const fine = () => streaming(wire.reply({ text: 'Fine.' }));
    provider.answer(fine(), fine());
    expect((await bench.post(path, request)).status).toBe(200);
    await bench.approvals.turnTo('s', 'auto');
    expect((await bench.post(path, { ...request, tools: [hosted] })).status).toBe(200);
  });

  it('reads compressed bodies, and passes them on as they are inside', async () => {
    await bench.session();
    const plain = JSON.stringify(request);
    for (const [encoding, pack] of [
      ['gzip', gzipSync],
      ['zstd', zstdCompressSync],
    ] as const) {
      provider.answer(streaming(reply()));
      const response = await fetch(bench.url(path), {
        method: 'POST',
        body: new Uint8Array(pack(plain)),
        headers: { 'content-encoding': encoding },
      });
      expect(response.status).toBe(200);
      await response.text();
      expect(provider.requests.at(-1)?.text).toBe(plain);
    }
    const unknown = await bench.post(path, request, { headers: { 'content-encoding': 'lzma' } });
    expect(unknown.status).toBe(415);
  });

  it('is closed to programs of sessions that do not allow it', async () => {
    await bench.session({ modelForPrograms: false });
    const response = await bench.post(path, request);
    expect(response.status).toBe(403);
    expect(await response.text()).toContain('may not call its model');
    expect(provider.requests).toEqual([]);
  });
});

describe('requests that cost nothing', () => {
  it('are passed on without steps', async () => {
    const bench = await WireBench.open(anthropicMessages);
    const { provider } = bench;
    await bench.session();
    provider.models = modelList({ id: 'claude-sonnet-4-5' });
    const list = await fetch(bench.url('/anthropic/v1/models'));
    expect(await list.json()).toEqual({ data: [{ id: 'claude-sonnet-4-5' }] });
    provider.answer(failedResponse(200, { input_tokens: 7 }));
    const count = await bench.post('/anthropic/v1/messages/count_tokens', {
      model: 'claude-sonnet-4-5',
      messages: [],
    });
    expect(await count.json()).toEqual({ input_tokens: 7 });
    expect(await bench.events('request')).toEqual([]);
    const none = await bench.post('/anthropic/v1/messages/batches', {});
    expect([none.status, ((await none.json()) as { type: string }).type]).toEqual([404, 'error']);
    await bench.close();
  });
});
