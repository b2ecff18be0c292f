import { AppError, type ApprovalRequest, type Event } from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { InputClosed, readAnswer, type TerminalUser } from './terminal-user.js';
import { Questions } from './questions.js';

const request: ApprovalRequest = {
  id: 'c1',
  operation: 'terminal.run',
  input: { command: 'npm test' },
  risk: 'execute',
  subject: 'npm test',
};
let seq = 0;
const event = (action: string, args: object, id?: string): Event => ({
  seq: ++seq,
  time: '2026-01-01T00:00:00.000Z',
  source: 'server',
  action,
  args: args as Event['args'],
  message: action,
  id,
});
const approval = (id: string, mode = 'ask') =>
  event('approval', { ...request, id, mode, until: null }, id);

/** A client that records its calls. */
function recorder() {
  const sent: unknown[] = [];
  const sessions = {
    answer: async (...args: unknown[]) => void sent.push(args),
    message: async (...args: unknown[]) => void sent.push(args),
  };
  return { sent, client: { sessions } as unknown as BelayClient };
}
const settled = () => new Promise((done) => setImmediate(done));

describe('questions', () => {
  it('stay open when the user closes the input', async () => {
    const { sent, client } = recorder();
    const said: string[] = [];
    const user: TerminalUser = {
      approve: () => Promise.reject(new InputClosed()),
      refuse: fail,
      answer: () => Promise.reject(new InputClosed()),
    };
    const asking: boolean[] = [];
    const handlers = {
      ...unasked,
      unanswerable: (what: string) => void said.push(what),
      failed: fail,
      asking: (open: boolean) => void asking.push(open),
    };
    new Questions({ id: 's', client, user }, handlers).see(approval('c1'));
    await settled();
    expect(said).toEqual(['The session needs approval for terminal.run.']);
    expect([sent, asking]).toEqual([[], [true, false]]);
  });

  it('are asked one after the other, and the answers are sent', async () => {
    const { sent, client } = recorder();
    const asked: string[] = [];
    const user: TerminalUser = {
      approve: async ({ id }) => (asked.push(id), { verdict: 'approved' }),
      refuse: fail,
      answer: async (question) => (asked.push(question), 'blue'),
    };
    const questions = new Questions({ id: 's', client, user }, { ...unasked, failed: fail });
    questions.see(approval('c1'));
    questions.see(approval('c2'));
    questions.see(event('ask', { question: 'Which colour?' }, 'c3'));
    await settled();
    expect(asked).toEqual(['c1', 'c2', 'Which colour?']);
    expect(sent).toEqual([
      ['s', 'c1', { verdict: 'approved' }],
      ['s', 'c2', { verdict: 'approved' }],
      ['s', { text: 'blue' }],
    ]);
  });

  it('are withdrawn when they are answered elsewhere', async () => {
    const { sent, client } = recorder();
    const user: TerminalUser = {
      approve: (_, signal) =>
        new Promise((_done, failed) =>
          signal.addEventListener('abort', () => failed(signal.reason)),
        ),
      refuse: fail,
      answer: fail,
    };
    const failed = jest.fn();
    const questions = new Questions({ id: 's', client, user }, { ...unasked, failed });
    questions.see(approval('c1'));
    await settled();
    questions.see(event('approve', {}, 'c1'));
    await settled();
    expect(sent).toEqual([]);
    expect(failed).not.toHaveBeenCalled();
  });

  it('let a delayed call be refused, which may come too late', async () => {
    const { sent, client } = recorder();
    const user: TerminalUser = {
      approve: fail,
      refuse: async ({ id }) => ({ verdict: 'rejected', reason: id }),
      answer: fail,
    };
    const failed = jest.fn();
    const handlers = { ...unasked, failed };
    new Questions({ id: 's', client, user }, handlers).see(approval('c1', 'delay'));
    await settled();
    expect(sent).toEqual([['s', 'c1', { verdict: 'rejected', reason: 'c1' }]]);
    const tooLate = () => Promise.reject(new AppError('not_found', 'No question waits.'));
    const late = { sessions: { answer: tooLate } } as unknown as BelayClient;
    new Questions({ id: 's', client: late, user }, handlers).see(approval('c2', 'delay'));
    const closed = { ...user, refuse: () => Promise.reject(new InputClosed()) };
    new Questions({ id: 's', client, user: closed }, handlers).see(approval('c3', 'delay'));
    await settled();
    expect(failed).not.toHaveBeenCalled();
  });

  it('ask what to do about a model that cannot be called, and withdraw it once it is tried again', async () => {
    const { sent, client } = recorder();
    const asked: string[] = [];
    const unusable = jest.fn();
    const user: TerminalUser = {
      approve: fail,
      refuse: fail,
      answer: async (question) => (asked.push(question), 'Go on'),
    };
    const error = { code: 'model_failed', message: 'openai refused the key.' };
    const waits = { state: 'waiting', reason: error.message };
    const failed = { state: 'failed', reason: error.message };
    const at = (handlers: object, user?: TerminalUser) =>
      new Questions({ id: 's', client, user }, { ...unasked, failed: fail, ...handlers });
    const attended = at({}, user);
    for (const [action, args] of [
      ['error', error],
      ['state', waits],
    ] as const)
      attended.see(event(action, args));
    await settled();
    expect(asked).toEqual(['openai refused the key. Write to the agent to try again']);
    expect(sent).toEqual([['s', { text: 'Go on' }]]);
    const headless = at({ unusable });
    // An error that ends the session is reported as its end.
    for (const [action, args] of [
      ['error', error],
      ['state', failed],
      ['state', waits],
    ] as const)
      headless.see(event(action, args));
    expect(unusable).not.toHaveBeenCalled();
    for (const [action, args] of [
      ['error', error],
      ['state', waits],
    ] as const)
      headless.see(event(action, args));
    expect(unusable).toHaveBeenCalledWith('openai refused the key.');
  });

  it.each([
    ['its title', { title: 'Sum' }, []],
    ['its budgets', { budgets: { steps: 9, tokens: null, dollars: null, seconds: null } }, []],
    ['its model', { model: 'openai:gpt-5' }, ['withdrawn']],
  ])('about a model end with a change of %s only if that tries it again', async (_, args, end) => {
    const said: string[] = [];
    const user: TerminalUser = {
      approve: fail,
      refuse: fail,
      answer: (_question, signal) =>
        new Promise((_done, failed) =>
          signal.addEventListener('abort', () => {
            said.push('withdrawn');
            failed(signal.reason);
          }),
        ),
    };
    const { client } = recorder();
    const questions = new Questions({ id: 's', client, user }, { ...unasked, failed: fail });
    questions.join({
      waitingFor: [],
      question: null,
      modelError: { message: 'openai refused the key.', retryAt: null },
    });
    await settled();
    questions.see(event('change', args));
    await settled();
    expect(said).toEqual(end);
    questions.close();
  });

  it('about a model is reported when the user closes the input', async () => {
    const unusable = jest.fn();
    const user: TerminalUser = {
      approve: fail,
      refuse: fail,
      answer: () => Promise.reject(new InputClosed()),
    };
    const { client } = recorder();
    new Questions({ id: 's', client, user }, { ...unasked, unusable, failed: fail }).join({
      waitingFor: [],
      question: null,
      modelError: { message: 'openai refused the key.', retryAt: null },
    });
    await settled();
    expect(unusable).toHaveBeenCalledWith('openai refused the key.');
  });

  it('end a run without a terminal, but not for a call that is only delayed', () => {
    const nobody = jest.fn();
    const handlers = { ...unasked, unanswerable: nobody, failed: fail };
    const questions = new Questions(
      { id: 's', client: recorder().client, user: undefined },
      handlers,
    );
    questions.see(approval('c1', 'delay'));
    expect(nobody).not.toHaveBeenCalled();
    questions.see(approval('c2'));
    expect(nobody).toHaveBeenCalledWith('The session needs approval for terminal.run.');
  });
});

const fail = (): never => {
  throw new Error('This must not be called.');
};

const unasked = { unanswerable: fail, unusable: fail };

describe('an answer', () => {
  it.each([
    ['y', { verdict: 'approved' }],
    ['YES', { verdict: 'approved' }],
    ['n', { verdict: 'rejected', reason: 'The user said no.' }],
    ['no, use yarn', { verdict: 'rejected', reason: 'use yarn' }],
    ['nothing here', { verdict: 'rejected', reason: 'nothing here' }],
    ['', undefined],
  ])('of %j is understood', (said, answer) => {
    expect(readAnswer(said, request)).toEqual(answer);
  });

  it('of always remembers this very command for the session', () => {
    const remember = {
      scope: 'session',
      operation: 'terminal.run',
      pattern: 'npm test',
      expires: null,
    };
    expect(readAnswer('a', request)).toEqual({ verdict: 'approved', remember });
  });

  it('allows a set of hosts that the refused one is in, and no other', () => {
    const egress = { ...request, operation: 'egress', subject: 'codeload.github.com:443' };
    const pattern = '@npm';
    const remember = { scope: 'session', operation: 'egress', pattern, expires: null };
    expect(readAnswer('@npm', egress)).toEqual({ verdict: 'approved', remember });
    expect(readAnswer('@apt', egress)).toMatchObject({ verdict: 'rejected' });
    expect(readAnswer('@npm', request)).toMatchObject({ verdict: 'rejected' });
  });
});
