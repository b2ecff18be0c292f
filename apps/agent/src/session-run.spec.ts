import { AppError, newEvent } from '@belay/protocol';
import { pause, until } from '@belay/testing';
import { Stage } from './testing/stage.js';

it('is idle when it has waited for its user, and not once it is closed', async () => {
  const run = jest.fn();
  const ask = { calls: [{ operation: 'ask', input: { question: 'Which?' } }] };
  const stage = new Stage({ turns: [ask], idle: { afterMs: 50, run } });
  await stage.event('ask');
  await until('it is idle', () => run.mock.calls.length > 0);
  await stage.call('1', 'files.read', { path: 'a' }).catch(() => undefined);
  await stage.server.call('shutdown', {});
  run.mockClear();
  await pause(150, 'it would be idle three times');
  expect(run).not.toHaveBeenCalled();
  await stage.close();
});

it('answers a rewind only once the log has it', async () => {
  let isSlow = false;
  const stage = new Stage({
    turns: [{ calls: [{ operation: 'ask', input: { question: 'Which?' } }] }],
    handlers: { 'workspace.rewind': async () => ({ files: [], commit: null }) as never },
    beforeAppend: async () => {
      if (isSlow) await pause(100, 'the server has much to do');
    },
  });
  await stage.event('ask');
  isSlow = true;
  await stage.call('1', 'workspace.rewind', { commit: 'a'.repeat(40) });
  expect(stage.log.filter(({ id }) => id === '1').map(({ action }) => action)).toEqual([
    'workspace.rewind',
    'result',
  ]);
  await stage.close();
});

it('is over only once the log has what was written before its agent failed', async () => {
  const stage: Stage = new Stage({
    turns: [],
    settings: { trust: true },
    guidance: async () => {
      stage.append(newEvent('agent', 'renewed', { args: {}, message: 'The last words.' }));
      throw new AppError('internal', 'The folder cannot be read.');
    },
    beforeAppend: () => pause(100, 'the server has much to do'),
  });
  await expect(stage.ended).rejects.toThrow('The folder cannot be read.');
  expect(stage.log.at(-1)?.message).toBe('The last words.');
  await stage.close();
});

it('is over at once when another agent has the session, which stores nothing more', async () => {
  const stage = new Stage({ turns: [{ calls: [{ operation: 'ask', input: { question: '?' } }] }] });
  stage.fenced = true;
  await expect(stage.ended).rejects.toThrow('Another sandbox works on this session now.');
  await stage.close();
});

it('has everything stored when its process is told to end', async () => {
  const ending = new AbortController();
  const stored = Promise.withResolvers<void>();
  let isSending = false;
  const stage = new Stage({
    turns: [{ calls: [{ operation: 'ask', input: { question: 'Which?' } }] }],
    beforeAppend: async () => {
      isSending = true;
      await stored.promise;
    },
    ending: ending.signal,
  });
  await until('it sends what it does', () => isSending);
  ending.abort();
  stored.resolve();
  await stage.ended;
  const logged = stage.log.map(({ action }) => action);
  expect(logged).toContain('say');
  // The next agent waits for the answer.
  expect(logged).not.toContain('result');
  await stage.close();
});
