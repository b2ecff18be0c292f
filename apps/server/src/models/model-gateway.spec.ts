import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { budgets } from '@belay/protocol';
import { TestGateway, turn } from '../testing/test-gateway.js';
import { failedResponse, modelList, ProviderServer, streaming } from './testing/provider-server.js';
import { anthropicMessages, chatCompletions } from './testing/provider-wires.js';

describe('budgets', () => {
  let server: ProviderServer;
  let test: TestGateway;
  beforeEach(async () => {
    server = await ProviderServer.open();
    test = await TestGateway.open({
      ...chatCompletions.environment(server.url),
      ...anthropicMessages.environment(server.url),
    });
  });
  afterEach(async () => {
    await test.close();
    await server.close();
  });
  const yes = () => streaming(chatCompletions.reply({ text: 'Yes.' }));

  it.each([
    ['steps', { steps: 2 }, 2, 2],
    ['tokens', { tokens: 200 }, 200, 258],
  ])('stops before the call that %s forbid', async (budget, budgets, limit, used) => {
    await test.session(chatCompletions.model, { budgets });
    server.answer(yes(), yes());
    await test.generate();
    await test.generate();
    await expect(test.generate()).rejects.toMatchObject({
      code: 'limit_reached',
      details: { budget, limit, used },
    });
    expect(server.requests).toHaveLength(2);
    expect((await test.events('limit'))[0]?.args).toEqual({ budget, limit, used });
    expect((await test.logs.log.summary('s')).state).toBe('limited');
  });

  it('counts dollars by the price table', async () => {
    await test.session(anthropicMessages.model, { budgets: { dollars: 0.01 } });
    const usage = { input: 4_000, output: 0 };
    server.answer(streaming(anthropicMessages.reply({ text: 'Yes.', usage })));
    expect((await test.generate()).usage.dollars).toBeCloseTo(0.012, 10);
    await expect(test.generate()).rejects.toThrow('The budget of $0.01 is spent: $0.0120 used.');
  });

  it('counts a model at an address of one’s own as free, and others by the price in their name', async () => {
    await test.session(chatCompletions.model, { budgets: { dollars: 1 } });
    server.answer(yes());
    expect((await test.generate()).usage.dollars).toBe(0);
    await test.logs.session('priced', {
      model: `${chatCompletions.model}?price=100/1000`,
      budgets: { dollars: 0.01 },
    });
    server.answer(yes());
    const { signal } = new AbortController();
    const reply = await test.gateway.generate('priced', turn(), { signal });
    // 120 tokens in and 9 out.
    expect(reply.usage.dollars).toBeCloseTo(0.021, 10);
    await expect(test.gateway.generate('priced', turn(), { signal })).rejects.toThrow(
      'The budget of $0.01 is spent: $0.0210 used.',
    );
  });

  it.each([
    ['https://openrouter.ai/api/v1', 'llama', false],
    ['https://8.8.8.8/v1', 'llama', false],
    ['https://openrouter.ai/api/v1', 'llama?price=0', true],
    ['http://192.168.1.7:11434/v1', 'llama', true],
    ['http://[::1]:11434/v1', 'llama', true],
    ['http://gpu-box:8000/v1', 'llama', true],
    ['http://gpu.lan/v1', 'llama', true],
  ])('keeps a budget in dollars for a model at %s named %s: %s', async (url, name, kept) => {
    await test.gateway.setProvider('openai-compatible', { url, unchecked: true });
    const checked = test.gateway.check({
      model: `openai-compatible:${name}`,
      budgets: budgets.parse({ dollars: 2 }),
    });
    if (kept) await expect(checked).resolves.toBeUndefined();
    else
      await expect(checked).rejects.toThrow(
        'The price of openai-compatible:llama is not known, so the budget of $2 cannot be enforced. Add its price in dollars for a million tokens in and out, as in openai-compatible:llama?price=0.5/2, or set no budget in dollars.',
      );
  });

  it('aborts a running call when the wall time is over', async () => {
    await test.session(chatCompletions.model, { budgets: { seconds: 1 } });
    server.answer(streaming(chatCompletions.reply({ text: 'A long story' }).slice(0, 2), 'open'));
    await expect(test.generate()).rejects.toMatchObject({
      code: 'limit_reached',
      details: { budget: 'seconds' },
    });
  });
});

describe('choices and checks', () => {
  let folder: string;
  let test: TestGateway;
  const open = async (env: Record<string, string> = {}) => {
    test = await TestGateway.open({ BELAY_EXAMPLES: folder, ...env });
    return test.gateway;
  };
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-models-'));
    await mkdir(join(folder, 'sessions', 'greet'), { recursive: true });
    await writeFile(
      join(folder, 'sessions', 'greet', 'script.yaml'),
      'title: Greet\nturns:\n  - say: Hello\n    finish: Greeted\n',
    );
  });
  afterEach(async () => {
    await test.close();
    await rm(folder, { recursive: true });
  });

  it('puts what is ready first and says what the others need', async () => {
    const choices = await (await open({ ANTHROPIC_API_KEY: 'k' })).choices();
    expect(choices[0]).toMatchObject({
      name: expect.stringMatching(/^anthropic:/) as string,
      ready: true,
    });
    expect(choices).toContainEqual({
      name: 'scripted:example:greet',
      title: 'Greet',
      ready: true,
      remedy: null,
    });
    const last = choices.at(-1);
    expect(last).toMatchObject({ ready: false, remedy: expect.stringContaining('Set ') as string });
    const order = choices.map(({ ready }) => ready);
    expect(order).toEqual(order.toSorted((a, b) => Number(b) - Number(a)));
  });

  it('lists what an OpenAI-compatible server offers', async () => {
    const server = await ProviderServer.open();
    server.models = modelList({ id: 'qwen' });
    const choices = await (await open(chatCompletions.environment(server.url))).choices();
    expect(choices[0]).toMatchObject({ name: 'openai-compatible:qwen', ready: true });
    expect(server.requests[0]?.headers.authorization).toBe('Bearer key-1');
    await server.close();
  });

  it('leaves out what a server would offer that does not answer in time', async () => {
    const server = await ProviderServer.open();
    server.models = () => undefined;
    const gateway = await open(chatCompletions.environment(server.url));
    test.keys.listTimeoutMs = 1;
    const names = (await gateway.choices()).map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('openai-compatible:'))).toEqual([]);
    await server.close();
  });

  describe('a provider that is set', () => {
    let server: ProviderServer;
    beforeEach(async () => {
      server = await ProviderServer.open();
    });
    afterEach(() => server.close());

    it('is saved once it lists its models, with names of several servers beside each other', async () => {
      const gateway = await open();
      const other = await ProviderServer.open();
      try {
        server.models = modelList({ id: 'qwen' });
        other.models = modelList({ id: 'llama' });
        await gateway.setProvider('ollama', { url: `${server.url}/v1` });
        await gateway.setProvider('box', { url: `${other.url}/v1/`, key: 'k2' });
        const ready = (await gateway.choices()).filter((choice) => choice.ready);
        expect(ready.map(({ name }) => name)).toEqual(
          expect.arrayContaining(['ollama:qwen', 'box:llama']),
        );
        expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
          undefined,
          undefined,
        ]);
        expect(other.requests[0]).toMatchObject({
          path: '/v1/models',
          headers: { authorization: 'Bearer k2' },
        });
        await expect(gateway.check({ model: 'ollama:qwen' })).resolves.toBeUndefined();
        await expect(gateway.check({ model: 'oolama:qwen' })).rejects.toThrow(
          /^There is no model "oolama:qwen"; write PROVIDER:MODEL with one of .*\bollama\b/,
        );
        await gateway.setProvider('ollama', { url: null });
        await expect(gateway.check({ model: 'ollama:qwen' })).rejects.toThrow(/^There is no model/);
      } finally {
        await other.close();
      }
    });

    it.each([
      [
        'no list',
        () => failedResponse(200, '<html>'),
        /did not answer with a list of models\. Check the address\.$/,
      ],
      [
        'no such path',
        () => failedResponse(404, {}),
        /\/api\/models answered 404\. Check the address: those of most servers end with \/v1\.$/,
      ],
      ['a redirect', () => failedResponse(302, {}, { location: '/v1/models' }), /answered 302\./],
      [
        'a refused key',
        () => failedResponse(401, {}),
        /^box refused the key: http.* answered 401\. Check the key\.$/,
      ],
    ])('is not saved if it answers with %s', async (_, answer, sentence) => {
      const gateway = await open();
      server.models = answer();
      const url = `${server.url}/api`;
      await expect(gateway.setProvider('box', { url, key: 'secret-7' })).rejects.toThrow(sentence);
      await expect(gateway.check({ model: 'box:x' })).rejects.toThrow(/^There is no model/);
      await gateway.setProvider('box', { url, key: 'secret-7', unchecked: true });
      await expect(gateway.check({ model: 'box:x' })).resolves.toBeUndefined();
    });

    it('is not saved if nothing answers, and keeps what it was', async () => {
      const gateway = await open();
      server.models = modelList({ id: 'qwen' });
      await gateway.setProvider('box', { url: `${server.url}/v1` });
      await expect(gateway.setProvider('box', { url: 'http://127.0.0.1:4/v1' })).rejects.toThrow(
        'http://127.0.0.1:4/v1/models does not answer (ECONNREFUSED).',
      );
      expect((await gateway.choices())[0]).toMatchObject({ name: 'box:qwen', ready: true });
    });

    it('is asked in its own way', async () => {
      const gateway = await open();
      const lists = {
        anthropic: modelList({ id: 'claude' }),
        google: failedResponse(200, { models: [{ name: 'models/gemini' }] }),
        openai: modelList({ id: 'gpt' }),
      };
      for (const [name, list] of Object.entries(lists)) {
        server.models = list;
        await gateway.setProvider(name, { key: `k-${name}`, url: server.url });
      }
      expect(server.requests.map(({ headers }) => headers)).toMatchObject([
        { 'x-api-key': 'k-anthropic' },
        { 'x-goog-api-key': 'k-google' },
        { authorization: 'Bearer k-openai' },
      ]);
    });

    it('needs an address if it is none of the known ones', async () => {
      const gateway = await open();
      await expect(gateway.setProvider('box', { key: 'k' })).rejects.toThrow(
        'Give the address of box, too: a key alone is not enough.',
      );
    });
  });

  it.each([
    ['gpt', /^There is no model "gpt"; write PROVIDER:MODEL with one of openai, /],
    ['nobody:x', /^There is no model "nobody:x"; /],
    [
      'openai:gpt-5',
      /^openai is not set up\. Set its key under Settings → Models, or OPENAI_API_KEY for the server\.$/,
    ],
    ['openai-compatible:x', /or OPENAI_COMPATIBLE_BASE_URL/],
    ['anthropic:x?tools=maybe', /^Models have no option tools=maybe\. The options are /],
    ['scripted:/nowhere/a.yaml', /^There is no script \/nowhere\/a\.yaml\.$/],
    ['scripted:example:nobody', /^There is no script example:nobody\.$/],
    ['scripted:example:../greet', /^The name of an example has letters, digits, _ and -\.$/],
    ['cassette:/nowhere/a.jsonl', /^There is no cassette \/nowhere\/a\.jsonl; record one with /],
    ['cassette:/a?record=google:x', /^google is not set up\./],
    ['cassette:/a?record=cassette:/b', /^A cassette cannot record another cassette\.$/],
  ])('says in one sentence why %s cannot be used', async (model, sentence) => {
    const gateway = await open();
    await expect(gateway.check({ model })).rejects.toThrow(sentence);
  });

  it('passes what can be used', async () => {
    const gateway = await open({
      OPENAI_API_KEY: 'k',
      OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:1/v1',
    });
    for (const model of [
      'openai:gpt-5?reasoning=low',
      'openai-compatible:llama3?tools=tags&context=8192',
      'scripted:example:greet',
      `cassette:${folder}/new.jsonl?record=openai:gpt-5`,
    ]) {
      await expect(gateway.check({ model })).resolves.toBeUndefined();
    }
  });
});
