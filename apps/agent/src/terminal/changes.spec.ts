import { socketPair } from '@belay/testing';
import { Changes } from './changes.js';

it('a wait whose time is over while this process is kept waiting has what came in time', async () => {
  const { near, far, close } = await socketPair();
  const changes = new Changes();
  let received = '';
  near.on('data', (text: Buffer) => {
    received += text.toString();
    changes.notify();
  });
  const waiting = changes.until(() => received === 'ended', 20);
  far.write('ended');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  expect(await waiting).toBe(true);
  // The control: what does not come is not waited for.
  expect(await changes.until(() => received === 'again', 20)).toBe(false);
  close();
});
