import type { ApprovalRequest, Event } from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { PersonLeft, readAnswer, type Person } from './person.js';
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

/** A client that only writes down what it was told. */
function recorder() {
  const told: unknown[] = [];
  const sessions = {
    answer: async (...args: unknown[]) => void told.push(args),
    message: async (...args: unknown[]) => void told.push(args),
  };
  return { told, client: { sessions } as unknown as BelayClient };
}
const settled = () => new Promise((done) => setImmediate(done));

describe('questions', () => {
  it('go unanswered when the person leaves: it waits for somebody else', async () => {
    const { told, client } = recorder();
    const said: string[] = [];
    const person: Person = {
      approve: () => Promise.reject(new PersonLeft()),
      answer: () => Promise.reject(new PersonLeft()),
    };
    const asking: boolean[] = [];
    const ends = {
      nobody: (what: string) => void said.push(what),
      failed: fail,
      asking: (open: boolean) => void asking.push(open),
    };
    new Questions({ id: 's', client, person }, ends).see(approval('c1'));
    await settled();
    expect(said).toEqual(['It needs a person to allow terminal.run.']);
    expect([told, asking]).toEqual([[], [true, false]]);
  });

  it('are put to the person one after the other and sent on', async () => {
    const { told, client } = recorder();
    const asked: string[] = [];
    const person: Person = {
      approve: async ({ id }) => (asked.push(id), { verdict: 'approved' }),
      answer: async (question) => (asked.push(question), 'blue'),
    };
    const questions = new Questions({ id: 's', client, person }, { nobody: fail, failed: fail });
    questions.see(approval('c1'));
    questions.see(approval('c2'));
    questions.see(event('ask', { question: 'Which colour?' }, 'c3'));
    await settled();
    expect(asked).toEqual(['c1', 'c2', 'Which colour?']);
    expect(told).toEqual([
      ['s', 'c1', { verdict: 'approved' }],
      ['s', 'c2', { verdict: 'approved' }],
      ['s', { text: 'blue' }],
    ]);
  });

  it('are taken back when somebody else answers', async () => {
    const { told, client } = recorder();
    const person: Person = {
      approve: (_, signal) =>
        new Promise((_done, failed) =>
          signal.addEventListener('abort', () => failed(signal.reason)),
        ),
      answer: fail,
    };
    const failed = jest.fn();
    const questions = new Questions({ id: 's', client, person }, { nobody: fail, failed });
    questions.see(approval('c1'));
    await settled();
    questions.see(event('approve', { rule: null }, 'c1'));
    await settled();
    expect(told).toEqual([]);
    expect(failed).not.toHaveBeenCalled();
  });

  it('end a run where nobody can be asked, but not for a call that is only held back', () => {
    const nobody = jest.fn();
    const ends = { nobody, failed: fail };
    const questions = new Questions(
      { id: 's', client: recorder().client, person: undefined },
      ends,
    );
    questions.see(approval('c1', 'delay'));
    expect(nobody).not.toHaveBeenCalled();
    questions.see(approval('c2'));
    expect(nobody).toHaveBeenCalledWith('It needs a person to allow terminal.run.');
  });
});

const fail = (): never => {
  throw new Error('This must not be called.');
};

describe('an answer', () => {
  it.each([
    ['y', { verdict: 'approved' }],
    ['YES', { verdict: 'approved' }],
    ['n', { verdict: 'rejected', reason: 'The person said no.' }],
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
});
