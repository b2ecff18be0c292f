import { sampled } from '@belay/testing';
import { TestGateway } from '../../testing/test-gateway.js';
import {
  ProviderServer,
  failedResponse,
  resetting,
  streaming,
} from '../testing/provider-server.js';
import {
  anthropicMessages,
  chatCompletions,
  googleGenerate,
  openaiResponses,
  wires,
  type ProviderWire,
} from '../testing/provider-wires.js';

describe('how replies end', () => {
  let server: ProviderServer;
  let test: TestGateway;
  const open = async (wire: ProviderWire) => {
    test = await TestGateway.open(wire.environment(server.url));
    await test.session(wire.model);
  };
  beforeEach(async () => {
    server = await ProviderServer.open();
  });
  afterEach(async () => {
    await test.close();
    await server.close();
  });

  describe.each([
    ['openai-compatible', chatCompletions, 'length'],
    ['openai', openaiResponses, 'length'],
    ['anthropic', anthropicMessages, 'max_tokens'],
  ] as const)('at the length limit: %s', (_, wire, finish) => {
    it.each(['{"command": "cat > a <<E', ''])('says that a call was cut: %j', async (input) => {
      await open(wire);
      const whole = { id: 'call_1', name: 'files_read', input: '{"path":"a"}' };
      const calls = [whole, { id: 'call_2', name: 'finish', input }];
      server.answer(streaming(wire.reply({ calls, finish })));
      const reply = await test.generate();
      expect(reply.finish).toBe('length');
      expect(reply.calls).toMatchObject([
        { input: { path: 'a' } },
        { invalid: expect.stringMatching(/length limit in the middle of this call/) as string },
      ]);
      expect(reply.calls[0]).not.toHaveProperty('invalid');
    });

    it('keeps a call that was whole', async () => {
      await open(wire);
      const calls = [{ id: 'call_1', name: 'files_read', input: '{"path":"a"}' }];
      server.answer(streaming(wire.reply({ calls, finish })));
      expect((await test.generate()).calls).toEqual([
        { id: 'call_1', operation: 'files.read', input: { path: 'a' } },
      ]);
    });
  });

  it.each<[string, ProviderWire, string]>([
    ['refusal', anthropicMessages, 'Well, to'],
    ['content_filter', chatCompletions, 'Well, to'],
    ['SAFETY', googleGenerate, ''],
  ])(
    'says that a reply was withheld, runs nothing of it and does not try again: %s',
    async (...of) => {
      const [finish, wire, text] = of;
      await open(wire);
      server.answer(streaming(wire.reply({ text, finish })));
      const after = text && ` after “${text}”`;
      await expect(test.generate()).rejects.toThrow(
        `${wire.model} refused to answer, or its content filter withheld the reply${after}. Rewind to an earlier step, rephrase it, or use another model.`,
      );
      expect(server.requests).toHaveLength(1);
    },
  );

  it('takes a prompt that Google blocks for a withheld reply', async () => {
    await open(googleGenerate);
    const feedback = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } };
    server.answer(streaming([`data: ${JSON.stringify(feedback)}\n\n`]));
    await expect(test.generate()).rejects.toThrow(/content filter withheld the reply\./);
  });

  it('says when Gemini wrote a call that cannot be read', async () => {
    await open(googleGenerate);
    server.answer(streaming(googleGenerate.reply({ finish: 'MALFORMED_FUNCTION_CALL' })));
    expect(await test.generate()).toMatchObject({ calls: [], finish: 'malformed' });
    expect(await test.events('retry')).toEqual([]);
  });

  it('shortens the conversation when the reply filled Anthropic’s window', async () => {
    await open(anthropicMessages);
    const finish = 'model_context_window_exceeded';
    server.answer(streaming(anthropicMessages.reply({ text: 'Well, to', finish })));
    await expect(test.generate()).rejects.toMatchObject({ code: 'context_overflow' });
  });
});

describe.each(wires.map((wire): [string, ProviderWire] => [wire.provider, wire]))(
  'what is done about an error of %s',
  (name, wire) => {
    let server: ProviderServer;
    let test: TestGateway;
    beforeEach(async () => {
      server = await ProviderServer.open();
      test = await TestGateway.open(wire.environment(server.url));
      await test.session(wire.model);
    });
    afterEach(async () => {
      await test.close();
      await server.close();
    });
    const model = wire.model.slice(wire.provider.length + 1);

    it.each<[number, string, string]>(
      sampled(2, [
        [401, 'model_failed', `${name} refused the key: check it under Settings → Models, or `],
        [413, 'context_overflow', `The conversation is too long for ${model}: No.`],
        [402, 'model_failed', `The account at ${name} has no credit left: No.`],
        [
          403,
          'model_failed',
          `${name} does not let this key use ${model}: No. Check the key’s permissions`,
        ],
        [
          404,
          'model_failed',
          `${name} has no ${model}: No. Check the model’s name and the address.`,
        ],
        [422, 'model_failed', `${name} answered 422: No.`],
      ]),
    )('%i is told at once', async (status, code, sentence) => {
      server.answer(failedResponse(status, wire.error('No')));
      await expect(test.generate()).rejects.toMatchObject({
        code,
        message: expect.stringContaining(sentence) as string,
      });
      expect(server.requests).toHaveLength(1);
    });

    it('a kept connection that is reset as the next request arrives is tried again', async () => {
      server.answer(streaming(wire.reply({ text: 'One.' })), resetting);
      server.answer(streaming(wire.reply({ text: 'Two.' })));
      expect((await test.generate()).text).toBe('One.');
      expect((await test.generate()).text).toBe('Two.');
      expect(await test.events('retry')).toHaveLength(1);
    });

    it.each(sampled(1, [429, 500, 503, 529]))(
      '%i is waited for, and the log says so',
      async (status) => {
        const failed = failedResponse(status, wire.error('Busy'));
        server.answer(failed, failed, failed, failed, streaming(wire.reply({ text: 'Now.' })));
        expect((await test.generate()).text).toBe('Now.');
        const retries = await test.events('retry');
        expect(retries.map(({ args }) => args['attempt'])).toEqual([2, 3, 4, 5]);
        expect(retries[0]?.message).toBe(
          `Waiting for the provider: ${name} answered ${status}: Busy. Next try in 1 s.`,
        );
      },
    );
  },
);
