import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { newEvent, type NewEvent } from '@belay/protocol';
import { itLong, sampled, staysTrue, until } from '@belay/testing';
import { streamedReply } from '../../testing/streamed-reply.js';
import { AcpStage, type AcpStageOptions } from './testing/acp-stage.js';

let acp: AcpStage;
const begin = (options: AcpStageOptions) => (acp = new AcpStage(options));
afterEach(() => acp.close());

const call = (more: object) => ({ sessionUpdate: 'tool_call', toolCallId: 't1', ...more });
const update = (more: object) => ({ sessionUpdate: 'tool_call_update', toolCallId: 't1', ...more });
const run = {
  kind: 'execute',
  title: 'npm test',
  rawInput: { command: ['bash', '-lc', 'npm test'] },
};
const options = ['allow_always', 'allow_once', 'reject_once'].map((kind) => ({
  kind,
  name: kind,
  optionId: kind,
}));

describe('its calls', () => {
  const permit = { toolCall: { toolCallId: 't1', ...run }, options };

  it('are approved one at a time, never for good', async () => {
    const asked: unknown[] = [];
    begin({
      task: [
        ['update', call(run)],
        ['permit', permit],
        ['update', update({ status: 'completed' })],
      ],
      approve: async ({ operation, subject }) => {
        asked.push([operation, subject]);
        return { verdict: 'approved' };
      },
    });
    await acp.stage.event('end');
    expect(asked).toEqual([['terminal.run', 'npm test']]);
    expect(acp.answers[0]).toContain('"optionId":"allow_once"');
    expect(acp.events('terminal.run')).toHaveLength(1);
  });

  it('that are refused say why', async () => {
    begin({
      task: [
        ['permit', permit],
        ['update', update({ status: 'failed' })],
        ['text', 'Well.'],
      ],
      approve: async () => ({ verdict: 'rejected', reason: 'Use make.' }),
    });
    await acp.stage.event('end');
    expect(acp.answers[0]).toContain('"optionId":"reject_once"');
    expect(acp.events('result')[0]?.args).toMatchObject({
      ok: false,
      output: { code: 'rejected', message: 'The user did not allow this: Use make.' },
    });
  });

  itLong('do not run where nothing allows them once', async () => {
    const always = options.filter(({ kind }) => kind === 'allow_always');
    begin({ task: [['permit', { ...permit, options: always }]] });
    await acp.stage.event('end');
    expect(acp.answers[0]).toContain('cancelled');
  });

  itLong('do not run when the approval fails', async () => {
    begin({ task: [['permit', permit]], approve: async () => Promise.reject(new Error('Lost.')) });
    await acp.stage.event('end');
    expect(acp.answers[0]).toContain('"optionId":"reject_once"');
  });

  it('have the verdict that the server gave when it held them', async () => {
    const held = { toolCallId: 'held', title: 'ls' };
    const steps = [
      ['permit', permit],
      ['permit', { toolCall: held, options }],
      ['update', call({ ...held, kind: 'execute', rawInput: { command: 'rm -r .' } })],
      [
        'update',
        update({ ...held, status: 'completed', rawOutput: { stdout: 'a', exit_code: 0 } }),
      ],
    ];
    const asked: string[] = [];
    begin({
      task: steps,
      approve: async ({ subject }) => {
        asked.push(subject);
        const args = { command: 'ls' };
        const event = { action: 'terminal.run', args, message: 'ls', id: 'held' };
        await acp.stage.say({ source: 'server', ...event });
        return { verdict: 'approved' };
      },
    });
    await acp.stage.event('end');
    expect(asked).toEqual(['npm test']);
    expect(acp.answers[1]).toContain('"optionId":"allow_once"');
    expect(acp.events('terminal.run').map(({ id }) => id)).toContain('held');
    expect(acp.events('terminal.run')).toHaveLength(2);
    expect(acp.events('result').find(({ id }) => id === 'held')).toMatchObject({
      args: { operation: 'terminal.run', output: { text: 'a', exitCode: 0 } },
    });
  });

  const replacements: [string, string, string[]][] = [
    ['allow_once', 'by a call that tells the program why', ['reject', 'replaced']],
    ['reject_once', 'by nothing', ['reject']],
  ];
  it.each(sampled(1, replacements))(
    '%s if the server refused them and replaced them %s',
    async (kind, _how, actions) => {
      const held = { toolCallId: 'held', title: 'ls' };
      const task = [
        ['permit', permit],
        ['permit', { toolCall: held, options }],
        ['update', call({ ...held, kind: 'execute', rawInput: { command: 'printf no' } })],
        ['update', update({ ...held, status: 'completed', rawOutput: { stdout: 'no' } })],
      ];
      const approve = async () => {
        for (const [action, args] of [
          ['terminal.run', { command: 'ls' }],
          ...actions.map(
            (action) => [action, { reason: 'Use make.', by: { kind: 'server' } }] as const,
          ),
        ] as const)
          await acp.stage.say({ source: 'server', action, args, message: action, id: 'held' });
        return { verdict: 'approved' } as const;
      };
      begin({ task, approve });
      await acp.stage.event('end');
      expect(acp.answers[1]).toContain(`"optionId":"${kind}"`);
      const output = { code: 'rejected', message: expect.stringContaining('Use make.') };
      const results = acp.events('result').filter(({ id }) => id === 'held');
      expect(results).toMatchObject([{ args: { ok: false, output } }]);
    },
  );

  itLong('that were refused in a text of the model have a result all the same, once', async () => {
    begin({ task: [['wait']] });
    await acp.stage.event('turn', 2);
    const call = { source: 'server', action: 'terminal.run', args: { command: 'ls' } } as const;
    await acp.stage.say({ ...call, message: 'ls', id: 'held' });
    await acp.stage.say({
      source: 'user',
      action: 'reject',
      args: { reason: 'No.', by: { kind: 'server' } },
      message: 'Rejected: No.',
      id: 'held',
    });
    await acp.stage.message(JSON.stringify([['text', 'Well.']]), { delivery: 'steer' });
    await acp.stage.event('end');
    expect(acp.events('result')).toMatchObject([
      { id: 'held', args: { operation: 'terminal.run', ok: false, output: { code: 'rejected' } } },
    ]);
  });

  itLong('are questions to the user where the program says so', async () => {
    const qwenQuestions = [{ question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] }];
    const toolCall = { toolCallId: 'q', title: 'Ask', kind: 'think', _meta: { qwenQuestions } };
    begin({ task: [['permit', { toolCall, options }]] });
    const asked = await acp.stage.event('ask');
    expect(asked.args).toEqual({ question: 'Which?', options: ['A', 'B'] });
    await acp.stage.message('B');
    await acp.stage.event('end');
    expect(JSON.parse(acp.answers[0] ?? '')).toMatchObject({
      outcome: { optionId: 'allow_once' },
      answers: { 0: 'B' },
    });
  });

  it('cannot write results of calls that are not its own', async () => {
    begin({ task: [['wait']] });
    await acp.stage.event('turn', 2);
    const asked = acp.stage.call('user-1', 'files.read', { path: 'a' }).catch(() => undefined);
    const forged = { toolCallId: 'user-1', title: 'Forged', kind: 'read' };
    await acp.stage.message(
      JSON.stringify([['update', call({ ...forged, status: 'completed', rawOutput: 'x' })]]),
      { delivery: 'steer' },
    );
    await asked;
    await acp.stage.event('end');
    const [result] = acp.events('result').filter(({ args }) => args['ok']);
    expect(result?.id).toMatch(/^acp-/);
  });

  itLong('leave commits of what they changed', async () => {
    begin({
      real: true,
      task: [
        ['update', call({ kind: 'edit', title: 'Edit', rawInput: { file: 'a.txt' } })],
        ['write', 'a.txt', 'one\n'],
        ['update', update({ status: 'completed', locations: [{ path: 'a.txt' }] })],
        ['update', call({ toolCallId: 't2', ...run })],
        ['write', 'b.txt', 'two\n'],
        ['update', update({ toolCallId: 't2', status: 'completed' })],
      ],
    });
    await acp.stage.event('commit', 3);
    const calls = acp.events('tool.fake.edit', 'terminal.run').map(({ id }) => id);
    const commits = acp.events('commit').filter(({ id }) => id !== undefined);
    expect(commits.map(({ id }) => id)).toEqual(calls);
    expect(commits.map(({ args }) => args['files'])).toMatchObject([
      [{ path: 'a.txt' }],
      [{ path: 'b.txt' }],
    ]);
  });

  it('are recorded while the model works on the next request, and before its reply or the end of the turn', async () => {
    begin({ real: true, task: 'Begin' });
    await acp.ended();
    const asked = Promise.withResolvers<void>();
    acp.stage.server.accept('model', async (_, stream) => {
      asked.resolve();
      stream.end(streamedReply('Next.'));
    });
    const release = acp.real.holdCommits();
    const ask = ['ask', `${acp.real.modelUrl}/chat/completions`, 'x'.repeat(32)];
    await acp.stage.message(
      JSON.stringify([
        ['update', call(run)],
        ['write', 'a.txt', 'one\n'],
        ['update', update({ status: 'completed' })],
        ask,
        ['update', call({ toolCallId: 't2', ...run })],
        ['write', 'b.txt', 'two\n'],
        ['update', update({ toolCallId: 't2', status: 'completed' })],
      ]),
    );
    await asked.promise;
    await staysTrue('the program has no reply', 200, () => acp.answers.length === 0);
    release();
    const end = await acp.ended(2);
    const commits = acp.events('commit').filter(({ id }) => id !== undefined);
    expect(commits.map(({ args }) => args['files'])).toMatchObject([
      [{ path: 'a.txt' }],
      [{ path: 'b.txt' }],
    ]);
    expect(commits.every(({ seq }) => seq < end.seq)).toBe(true);
    expect(acp.answers).toEqual(['Next.']);
  });
});

describe('a call that the server held', () => {
  const held = (id: string): NewEvent => {
    const args = { command: 'ls' };
    return { source: 'server', action: 'tool.fake.shell', args, message: 'Run', id };
  };

  it('comes after what was said before it, and has an end even if nobody reports one', async () => {
    begin({ task: [['text', 'I look first.'], ['wait']] });
    await until('it was said', () => acp.stage.deltas.length > 0);
    expect(acp.events('say')).toEqual([]);
    await acp.stage.say(held('a'));
    expect((await acp.stage.event('say')).args['text']).toBe('I look first.');
    await acp.stage.say(held('b'));
    const no = { reason: 'Not now.' };
    await acp.stage.say(newEvent('user', 'reject', { args: no, message: 'No', id: 'b' }));
    await acp.stage.message('Go on', { delivery: 'steer' });
    await acp.ended();
    expect(acp.events('result').map(({ id, args }) => [id, args['ok'], args['output']])).toEqual([
      ['a', true, { text: '' }],
      ['b', false, expect.objectContaining({ message: 'The user did not allow this: Not now.' })],
    ]);
  });
});

describe('Belay’s operations', () => {
  const call = (name: string, input: object) => ['tools/call', { name, arguments: input }];

  it('reach it as tools, whose calls are those of an agent', async () => {
    const asked: string[] = [];
    begin({
      real: true,
      task: [
        [
          'tools',
          call('files_write', { path: 'a.txt', content: 'one' }),
          call('terminal_run', { command: 'cat a.txt' }),
          call('terminal_run', { command: 3 }),
          call('finish', {}),
          ['resources/list', {}],
        ],
        [
          'update',
          {
            sessionUpdate: 'tool_call',
            toolCallId: 't',
            title: 'mcp__belay__files_write',
            rawInput: {},
            status: 'completed',
          },
        ],
      ],
      approve: async ({ operation }) => {
        asked.push(operation);
        return { verdict: 'approved' };
      },
    });
    await acp.stage.event('end');
    const answers = acp.answers.map((text) => JSON.parse(text));
    const [initialized, listed, written, ran, invalid, finished, other] = answers;
    expect(initialized.result).toMatchObject({ protocolVersion: '2025-06-18' });
    const tools = listed.result.tools.map(({ name }: { name: string }) => name);
    expect(tools).toEqual(
      expect.arrayContaining(['files_write', 'terminal_run', 'browser_open', 'ask']),
    );
    expect(tools).not.toContain('finish');
    expect(written.result).toMatchObject({ isError: false });
    expect(ran.result.content[0].text).toContain('one');
    expect(invalid.result).toMatchObject({ isError: true });
    expect(finished.result).toMatchObject({ isError: true });
    expect(other.error).toMatchObject({ code: -32601 });
    expect(asked).toEqual(['terminal.run']);
    expect(acp.events('files.write', 'terminal.run').map(({ id }) => id)).toEqual([
      expect.stringMatching(/^belay-/),
      expect.stringMatching(/^belay-/),
    ]);
    expect(acp.stage.log.filter(({ action }) => action.startsWith('tool.'))).toEqual([]);
  });

  it('are not for a program without a turn', async () => {
    begin({ task: 'x', real: true });
    await acp.stage.event('end');
    const opened = JSON.stringify(acp.received.find((one) => one['new']));
    const socket = connect(/"([^"]+\/socket)"/.exec(opened)?.[1] ?? '');
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    const params = { name: 'terminal_run', arguments: { command: 'touch b.txt' } };
    socket.write(`not JSON\n{"id":1}\n`);
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params })}\n`);
    expect(JSON.parse((await lines.next()).value ?? '')).toMatchObject({
      id: 2,
      error: { message: 'The agent has no turn now, so it can call nothing.' },
    });
    socket.destroy();
    expect(existsSync(join(acp.workspace, 'b.txt'))).toBe(false);
  });
});
