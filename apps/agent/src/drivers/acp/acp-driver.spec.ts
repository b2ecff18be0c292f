import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { newEvent, type Event } from '@belay/protocol';
import { itLong, sampled, until } from '@belay/testing';
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
const said = () => acp.events('say').map(({ args }) => args['text']);

describe('a program that speaks ACP', () => {
  it('works on the task and ends it with what it says last', async () => {
    begin({ task: 'Fix it' });
    await acp.stage.event('end');
    expect(acp.prompts).toEqual([['Fix it']]);
    expect(acp.stage.log.map(({ action }) => action)).toEqual([
      'start',
      'turn',
      'turn',
      'say',
      'turn',
      'end',
    ]);
    expect(acp.events('end')[0]?.args).toEqual({ text: 'Received: Fix it' });
    expect(acp.stage.deltas.join('')).toBe('Received: Fix it');
    const [initialized, opened] = acp.received;
    expect(JSON.stringify(initialized)).toContain('"readTextFile":false');
    expect(opened?.['new']).toMatchObject({
      cwd: acp.workspace,
      _meta: { fake: { strict: true } },
    });
    const settings = join(acp.folder, 'home/settings/fake.json');
    expect(readFileSync(settings, 'utf8')).toContain('127.0.0.1');
    expect(statSync(settings).mode & 0o777).toBe(0o600);
  });

  it('shows its texts, thoughts, plan and calls in order', async () => {
    const plan = (status: string) => ({
      sessionUpdate: 'plan',
      entries: [{ content: 'Look', priority: 'high', status }],
    });
    begin({
      task: [
        ['thought', 'Hm.'],
        ['text', 'I look.'],
        ['update', plan('in_progress')],
        ['update', call({ kind: 'execute', title: 'bash', rawInput: { cwd: '/' } })],
        ['update', update(run)],
        ['update', update({ _meta: { terminal_output: { data: 'ok\n' } } })],
        ['update', update({ status: 'completed', _meta: { terminal_exit: { exit_code: 3 } } })],
        ['update', plan('completed')],
        ['update', plan('completed')],
        ['update', call({ toolCallId: 't2', title: 'Search', kind: 'search', rawInput: {} })],
        ['update', update({ toolCallId: 't2', status: 'failed', rawOutput: { output: 'No.' } })],
        ['update', update({ toolCallId: 't2', status: 'completed' })],
        ['text', 'Done.'],
      ],
    });
    await acp.stage.event('end');
    const [, run1, , search] = acp.stage.log.filter(({ id }) => id !== undefined);
    expect(
      acp.stage.log
        .slice(3)
        .map(({ action, args }) => [action, args['text'] ?? args['markdown'] ?? null]),
    ).toEqual([
      ['say', 'I look.'],
      ['plan', '- [ ] Look'],
      ['terminal.run', null],
      ['result', null],
      ['plan', '- [x] Look'],
      ['tool.fake.search', null],
      ['result', null],
      ['say', 'Done.'],
      ['turn', null],
      ['end', 'Done.'],
    ]);
    expect(acp.events('say')[0]?.args).toMatchObject({ reasoning: 'Hm.' });
    expect(acp.events('terminal.run')[0]?.args).toMatchObject({ command: 'npm test' });
    expect(run1?.args).toMatchObject({ ok: true, output: { text: 'ok\n', exitCode: 3 } });
    expect(acp.events('tool.fake.search')[0]?.args).toEqual({ title: 'Search' });
    expect(search?.args).toMatchObject({ ok: false, output: { message: 'No.' } });
  });

  itLong('ignores what is not a message, and messages of other conversations', async () => {
    begin({
      task: [
        ['print', 'Update available!\n{"broken\n[1,2]\n\n'],
        ['foreign', 'Not mine.'],
        ['update', { sessionUpdate: 'of_the_future', any: 1 }],
        ['text', 'Mine.'],
      ],
    });
    await acp.stage.event('end');
    expect(said()).toEqual(['Mine.']);
  });

  it('has neither files nor terminals of its client', async () => {
    begin({ task: [['call', 'fs/read_text_file', { path: '/etc/passwd' }]] });
    await acp.stage.event('end');
    expect(acp.answers).toEqual(['error -32601']);
  });

  it('sends pictures as pictures, or as files', async () => {
    const blob = 'a'.repeat(64);
    const task = { task: 'See', settings: { images: [blob] }, blobs: { [blob]: 'PNG' } };
    begin({ ...task, env: { FAKE_IMAGES: '1' } });
    await acp.stage.event('end');
    expect(acp.received.at(-1)?.prompt?.[1]).toMatchObject({ type: 'image', data: 'UE5H' });
    await acp.close();
    begin(task);
    await acp.stage.event('end');
    const path = /picture: (\S+)/.exec(acp.prompts[0]?.[1] ?? '')?.[1] ?? '';
    expect(readFileSync(path, 'utf8')).toBe('PNG');
  });
});

describe('its questions', () => {
  const schema = (properties: object) => ({
    mode: 'form',
    message: 'How?',
    requestedSchema: { type: 'object', properties },
  });

  it('are asked field by field, and answered in their types', async () => {
    begin({
      task: [
        [
          'elicit',
          schema({
            colour: { type: 'string', title: 'Colour', enum: ['red', 'blue'] },
            count: { type: 'integer' },
            sure: { type: 'boolean' },
          }),
        ],
      ],
    });
    const first = await acp.stage.event('ask');
    expect(first.args).toEqual({ question: 'How?\n\nColour', options: ['red', 'blue'] });
    await acp.stage.message('blue');
    await acp.stage.event('ask', 2);
    await acp.stage.message('3');
    await acp.stage.event('ask', 3);
    await acp.stage.message('Yes');
    await acp.stage.event('end');
    expect(JSON.parse(acp.answers[0] ?? '')).toEqual({
      action: 'accept',
      content: { colour: 'blue', count: 3, sure: true },
    });
    expect(acp.stage.delivered).toHaveLength(3);
  });

  itLong('take an answer of the user’s own where a choice has a text beside it', async () => {
    const properties = {
      question_0: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }] },
      question_0_custom: { type: 'string', title: 'Other' },
    };
    begin({
      task: [
        ['elicit', schema(properties)],
        ['elicit', schema(properties)],
      ],
    });
    await acp.stage.event('ask');
    await acp.stage.message('Red');
    await acp.stage.event('ask', 2);
    await acp.stage.message('Pink');
    await acp.stage.event('end');
    expect(acp.answers.map((answer) => JSON.parse(answer) as unknown)).toEqual([
      { action: 'accept', content: { question_0: 'r' } },
      { action: 'accept', content: { question_0_custom: 'Pink' } },
    ]);
    expect(acp.events('ask')).toHaveLength(2);
  });

  it('are declined when they lead to another page', async () => {
    const url = { mode: 'url', message: 'Log in', elicitationId: 'e', url: 'https://evil.test' };
    begin({ task: [['elicit', url]] });
    await acp.stage.event('end');
    expect(acp.answers).toEqual(['{"action":"decline"}']);
    expect(acp.events('ask')).toEqual([]);
  });

  it('are closed when the turn is cancelled', async () => {
    begin({ task: [['elicit', schema({ name: { type: 'string' } })], ['wait']] });
    await acp.stage.event('ask');
    await acp.stage.say(newEvent('user', 'stop', { args: {}, message: 'Stop' }));
    await acp.ended();
    expect(acp.answers).toEqual(['{"action":"cancel"}']);
    expect(acp.events('result')[0]?.args).toMatchObject({ operation: 'ask', ok: false });
  });

  itLong(
    'are withdrawn when the program is killed, so that they take no later answer',
    async () => {
      begin({ task: [['once', 'elicit', schema({ name: { type: 'string' } })]] });
      const { id } = await acp.stage.event('ask');
      const began = JSON.stringify(acp.events('turn'));
      // The names of the fake agent’s conversations end with the id of its process.
      process.kill(Number(/conversation-\d+-(\d+)/.exec(began)?.[1]), 'SIGKILL');
      await acp.stage.event('end');
      expect(acp.events('result').map((event) => [event.id, event.message])).toEqual([
        [id, 'The question was withdrawn.'],
      ]);
      expect(acp.answers).toEqual([]);
    },
  );

  itLong('about how to go on are answered with one of its own choices', async () => {
    const toolCall = { toolCallId: 'm', kind: 'switch_mode', title: 'Ready to code?' };
    begin({ task: [['permit', { toolCall, options }]] });
    const asked = await acp.stage.event('ask');
    expect(asked.args).toEqual({
      question: 'Ready to code?',
      options: ['allow_always', 'allow_once', 'reject_once'],
    });
    await acp.stage.message('allow_once');
    await acp.stage.event('end');
    expect(acp.answers[0]).toContain('"optionId":"allow_once"');
  });
});

describe('its turns', () => {
  it('take queued messages when they end', async () => {
    begin({
      task: [['permit', { toolCall: { toolCallId: 't1', ...run }, options }]],
      approve: async () => {
        await acp.stage.message('Then this');
        return { verdict: 'approved' };
      },
    });
    await acp.stage.event('end');
    expect(acp.prompts).toHaveLength(2);
    expect(acp.prompts[1]).toEqual(['Then this']);
    expect(acp.stage.delivered).toHaveLength(1);
  });

  it('end early for an immediate message', async () => {
    begin({ task: [['update', call(run)], ['wait']] });
    await acp.stage.event('terminal.run');
    await acp.stage.message('Stop that', { delivery: 'steer' });
    await acp.stage.event('end');
    expect(acp.prompts[1]).toEqual(['Stop that']);
    expect((await acp.ended()).args).toMatchObject({ end: 'cancelled' });
    expect(acp.events('result')[0]?.args).toMatchObject({ ok: false });
  });

  itLong('end when the user stops a program that does not listen', async () => {
    begin({ task: [['deaf']] });
    await acp.stage.event('turn', 2);
    await acp.stage.say(newEvent('user', 'stop', { args: {}, message: 'Stop' }));
    expect((await acp.ended()).args).toMatchObject({ end: 'interrupted' });
    expect(acp.events('error')).toEqual([]);
  });

  const reasons = [
    ['refusal', 'refused', 'refused to go on'],
    ['max_tokens', 'cut', 'longest reply'],
    ['max_turn_requests', 'cut', 'as many requests'],
  ] as const;
  it.each(sampled(1, reasons))(
    'that end by %s fail with a sentence',
    async (reason, end, sentence) => {
      begin({ task: [['stop', reason]] });
      const finish = await acp.stage.event('finish');
      expect(finish.args).toMatchObject({
        outcome: 'failure',
        summary: expect.stringContaining(sentence),
      });
      expect((await acp.ended()).args).toMatchObject({ end });
    },
  );

  it('are taken up again after the program died in one', async () => {
    begin({
      task: [
        ['update', call(run)],
        ['once', 'exit', 1, 'Segmentation fault\n'],
      ],
      env: { FAKE_RESUME: 'resume' },
    });
    await acp.stage.event('end');
    expect(acp.prompts[1]).toEqual(['You were interrupted; go on.']);
    expect((await acp.ended()).args).toMatchObject({ end: 'interrupted' });
    const [first] = acp.events('turn').filter(({ args }) => args['change'] === 'began');
    expect(acp.received.find(({ resume }) => resume)?.['resume']).toMatchObject({
      sessionId: first?.args['conversation'],
    });
  });

  itLong('wait for the user when the program dies again', async () => {
    begin({ task: 'x', env: { FAKE_RESUME: 'resume', FAKE_FRAIL: '1' } });
    const error = await acp.stage.event('error');
    expect(error.message).toBe('Fake ended (exit 7): Out of ideas.');
  });

  it.each(sampled(1, ['message', 'details']))(
    'wait for the user when the program reports an error (%s)',
    async (field) => {
      begin({ task: [['fail', -32603, 'Internal error', { [field]: 'No credit left.' }]] });
      expect((await acp.stage.event('error')).message).toBe('Fake failed: No credit left.');
    },
  );
});

describe('another process of the agent', () => {
  it.each(sampled(1, ['resume', 'load']))('continues the conversation by %s', async (way) => {
    const env = { FAKE_RESUME: way };
    begin({ task: [['update', call(run)], ['wait']], env });
    await acp.stage.event('terminal.run');
    // As a kill leaves it.
    const events = [...acp.stage.log];
    await acp.close(true);
    const { folder } = acp;
    begin({ task: 'x', env, folder, events, epoch: 2 });
    await acp.stage.event('end');
    expect(acp.prompts).toHaveLength(2);
    expect(acp.prompts[1]?.join()).toContain('The session goes on in a new sandbox');
    expect(said().filter((text) => String(text).startsWith('[['))).toEqual([]);
    expect(acp.events('result')[0]?.args).toMatchObject({ ok: false });
  });

  it('tells the conversation to a program that cannot continue it', async () => {
    begin({ task: 'Make it blue' });
    await acp.stage.event('end');
    const { log } = acp.stage;
    await acp.close(true);
    const { folder } = acp;
    begin({ task: 'x', folder, events: [...log], epoch: 2 });
    await acp.stage.message('And now?');
    await acp.stage.event('end', 2);
    const [known, ...rest] = acp.prompts[1] ?? [];
    expect(known).toContain('The user: Make it blue\n\nThe agent: Received: Make it blue');
    expect(rest.at(-1)).toBe('And now?');
    expect(
      acp
        .events('turn')
        .map(({ message }) => message)
        .join(),
    ).toContain('begins anew');
  });
});

describe('a conversation that another agent began', () => {
  const id = '0198f1d2-0000-4000-8000-000000000001';
  const file = { id, path: `${id}.json`, text: '["Known"]' };

  /** A fork of a session in which the program has had one turn. */
  const forked = async (): Promise<Event[]> => {
    begin({ task: 'Make it blue' });
    await acp.stage.event('end');
    const log = [...acp.stage.log];
    await acp.close();
    const more = [
      newEvent('server', 'fork', { args: { session: 's', seq: 1 }, message: 'Forked' }),
      newEvent('user', 'start', { args: { ...acp.stage.settings, again: true }, message: 'Again' }),
    ];
    const time = new Date().toISOString();
    return [...log, ...more.map((event, at) => ({ ...event, time, seq: log.length + at + 1 }))];
  };

  it.each(sampled(1, ['resume', 'load']))('is continued from a file by %s', async (way) => {
    const events = await forked();
    const asked: string[] = [];
    const conversation = (cwd: string) => (asked.push(cwd), file);
    begin({ task: 'x', env: { FAKE_RESUME: way }, events, epoch: 2, conversation });
    await acp.stage.message('Now red');
    await acp.stage.event('end', 2);
    expect(asked).toEqual([acp.workspace]);
    expect(acp.received.find((one) => one[way])?.[way]).toMatchObject({ sessionId: id });
    const told = acp.prompts[0]?.join('\n') ?? '';
    expect(told).toContain('It is a fork');
    expect(told).toContain('Now red');
    expect(told).not.toContain('Make it blue');
    const [began] = acp.events('turn').slice(-2);
    expect(began?.args).toMatchObject({ change: 'began', conversation: id });
  });

  itLong('is told to a program that cannot load the file', async () => {
    const events = await forked();
    begin({ task: 'x', events, epoch: 2, conversation: () => file });
    await acp.stage.event('end', 2);
    expect(acp.prompts[0]?.[0]).toContain('The user: Make it blue');
    expect(acp.events('turn').some(({ message }) => message.includes('begins anew'))).toBe(true);
  });

  it('is the agent’s own, without what a rewind has undone', async () => {
    begin({ task: 'Make it blue', env: { FAKE_RESUME: 'resume' }, conversation: () => file });
    await acp.stage.event('end');
    expect(acp.received.some((one) => one['resume'])).toBe(false);
    const args = { seq: acp.stage.log.length, what: 'conversation' } as const;
    await acp.stage.say(newEvent('user', 'rewind', { args, message: 'Rewound' }));
    await acp.stage.message('Now red');
    await acp.stage.event('end', 2);
    expect(acp.prompts[1]).toEqual(['Now red']);
    // Another process, because a running one need not notice a new file.
    expect(acp.received.filter((one) => one['initialize'])).toHaveLength(2);
    expect(acp.received.find((one) => one['resume'])?.['resume']).toMatchObject({ sessionId: id });
  });
});

describe('its settings', () => {
  it('are offered to the user, who changes them', async () => {
    begin({ task: [['wait']], settings: { model: 'openai:large' } });
    await acp.stage.event('turn', 3);
    const [offered] = acp.events('turn');
    expect(offered?.args).toMatchObject({
      change: 'settings',
      options: [
        { id: 'mode', category: 'mode', value: 'default' },
        { id: 'model', value: 'small' },
        { id: 'fast', value: 'false', choices: [{ value: 'true' }, { value: 'false' }] },
      ],
    });
    expect(acp.received.find(({ choose }) => choose)?.['choose']).toMatchObject({ value: 'large' });
    const agentOptions = { mode: 'plan', fast: 'true', gone: 'x', model: 'evil' };
    await acp.stage.say(newEvent('user', 'change', { args: { agentOptions }, message: 'Plan' }));
    await until('it has them', () => acp.received.filter(({ choose }) => choose).length >= 3);
    const chosen = acp.received.flatMap(({ choose }) => choose ?? []).slice(1);
    const wanted = [
      { configId: 'mode', value: 'plan' },
      { configId: 'fast', value: true },
    ];
    expect(chosen).toMatchObject(wanted);

    const { log } = acp.stage;
    await acp.close(true);
    const { folder } = acp;
    begin({ task: 'x', folder, events: [...log], epoch: 2, settings: { model: 'openai:small' } });
    await acp.stage.event('end');
    const all = acp.received.flatMap(({ choose }) => choose ?? []);
    expect(all.slice(3)).toMatchObject(wanted);
  });
});

describe('a program that does not start', () => {
  const failures: [string, Partial<AcpStageOptions>, RegExp][] = [
    [
      'is not there',
      { command: ['/none/fake'] },
      /The program of Fake was not found in the sandbox\. Choose an image/,
    ],
    [
      'ends at once',
      { env: { FAKE_EXIT: '3' } },
      /Fake ended \(exit 3\): Cannot read the settings\./,
    ],
    [
      'wants a login',
      { env: { FAKE_LOGIN: '1' } },
      /Fake asks for a login although it has the gateway/,
    ],
  ];
  it.each(sampled(2, failures))('%s', async (_, options, sentence) => {
    begin({ task: 'x', ...options });
    expect((await acp.stage.event('error')).message).toMatch(sentence);
    expect(existsSync(acp.workspace)).toBe(true);
  });

  it('is authenticated by the method that needs no person', async () => {
    begin({ task: 'x', env: { FAKE_LOGIN: '1' }, program: { authenticate: 'token' } });
    await acp.stage.event('end');
    expect(acp.received.find(({ authenticate }) => authenticate)?.['authenticate']).toEqual({
      methodId: 'token',
    });
  });
});
