import { isEvent } from '@belay/protocol';
import { ProviderServer, streaming } from '../../apps/server/src/models/testing/provider-server.js';
import {
  anthropicMessages,
  chatCompletions,
  type WireCall,
} from '../../apps/server/src/models/testing/provider-wires.js';
import { BelayServer, killAgent, run, start } from '@belay/testkit';

const calling = (
  id: string,
  { operation, input }: { operation: string; input: object },
): WireCall => ({
  id,
  name: operation.replaceAll('.', '_'),
  input: JSON.stringify(input),
});

describe('a model behind a URL', () => {
  let provider: ProviderServer;
  let server: BelayServer;
  beforeAll(async () => {
    provider = await ProviderServer.open();
    server = new BelayServer({
      ...chatCompletions.environment(provider.url),
      ...anthropicMessages.environment(provider.url),
    });
    await server.start();
  });
  afterAll(async () => {
    await server.dispose();
    await provider.close();
  });

  it('drives a session end to end, and its text streams before it is an event', async () => {
    const [watched, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const reply = chatCompletions.reply({
      text: 'I look around first.',
      calls: [calling('call_1', run('echo from-the-model'))],
    });
    const firstWords = reply.findIndex((event) => event.includes('I look')) + 1;
    provider.answer(
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        // What streams before the session is watched is not repeated.
        void watched.promise.then(() => response.write(reply.slice(0, firstWords).join('')));
        void go.promise.then(() => response.end(reply.slice(firstWords).join('')));
      },
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const finish = { id: 'call_2', name: 'finish', input: '{"summary":"Done."}' };
        response.end(chatCompletions.reply({ calls: [finish] }).join(''));
      },
    );
    const session = await start(server, { task: 'Look', model: chatCompletions.model });
    session.close();
    const early = await new Promise<string>((live) => {
      server.live.watch(session.id, {
        events: () => watched.resolve(),
        delta: (_kind, text) => live(text),
      });
    });
    expect('I look around first.').toContain(early);
    const stored = await server.client.sessions.events(session.id);
    expect(stored.some((event) => event.action === 'say')).toBe(false);
    session.follow();
    go.resolve();
    const end = await session.finished();
    expect(end.args).toMatchObject({ state: 'finished' });
    expect(session.events.find((event) => isEvent(event, 'say'))?.message).toBe(
      'I look around first.',
    );
    await session.printed('from-the-model\r\n');
    expect(JSON.stringify(provider.requests[1]?.body.messages)).toContain('from-the-model');
    session.close();
  });

  it('receives the same request after kill -9 of the agent: the log alone holds the conversation', async () => {
    provider.requests.length = 0;
    const answered = (calls: WireCall[], text?: string) => {
      provider.answer((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(chatCompletions.reply({ calls, ...(text && { text }) }).join(''));
      });
    };
    answered([calling('call_1', run('echo remember; printf "é\\t日本"'))], 'First.');
    answered([calling('call_2', run('cat missing.txt')), calling('call_3', run('pwd'))]);
    const held = Promise.withResolvers<void>();
    provider.answer(() => held.resolve()); // never answers: the agent is killed while it waits
    const session = await start(server, { task: 'Remember', model: chatCompletions.model });
    await held.promise;
    const { messages, ...rest } = provider.requests.at(-1)?.body ?? {};
    await killAgent(session.id);
    const failed = await session.state('failed');
    answered([{ id: 'call_4', name: 'finish', input: '{"summary":"Done."}' }]);
    await server.client.sessions.restart(session.id);
    await session.finished(failed.seq);
    expect(provider.requests).toHaveLength(4);
    const content = expect.stringMatching(
      /^\[Belay, not the user\] The session was started again on \d{4}-\d\d-\d\d in a new sandbox\. Why: [^]*, and go on with the task\.$/,
    );
    const note = { role: 'user', content };
    const again = { ...rest, messages: [...(messages as object[]), note] };
    expect(provider.requests.at(-1)?.body).toEqual(again);
    session.close();
  });

  it('receives its signed thinking before parallel calls, their results in order, and files with numbered lines', async () => {
    provider.requests.length = 0;
    const calls = [
      calling('call_1', { operation: 'files.read', input: { path: 'a.txt' } }),
      calling('call_2', run('echo from-the-model')),
    ];
    const finish = { id: 'call_3', name: 'finish', input: '{"summary":"Done."}' };
    const write = calling('call_0', {
      operation: 'files.write',
      input: { path: 'a.txt', content: 'one\n\ttwo\n' },
    });
    provider.answer(
      streaming(anthropicMessages.reply({ calls: [write] })),
      streaming(anthropicMessages.reply({ reasoning: 'Hm.', text: 'I look.', calls })),
      streaming(anthropicMessages.reply({ calls: [finish] })),
    );
    const session = await start(server, { task: 'Look', model: anthropicMessages.model });
    await session.finished();
    const { messages } = provider.requests[2]!.body as { messages: { content: object[] }[] };
    expect(messages.at(-2)?.content).toMatchObject([
      { type: 'thinking', thinking: 'Hm.', signature: 'signed-1' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'call_1', input: { path: 'a.txt' } },
      { type: 'tool_use', id: 'call_2' },
    ]);
    expect(messages.at(-1)?.content).toMatchObject([
      {
        type: 'tool_result',
        tool_use_id: 'call_1',
        content: expect.stringMatching(/content:\n1\tone\n2\t\ttwo$/) as string,
      },
      {
        type: 'tool_result',
        tool_use_id: 'call_2',
        content: expect.stringMatching(/"exitCode":0.*\n\ntext:\nfrom-the-model\n$/) as string,
      },
    ]);
    session.close();
  });
});
