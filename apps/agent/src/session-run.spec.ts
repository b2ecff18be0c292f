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
