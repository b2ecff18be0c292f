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
