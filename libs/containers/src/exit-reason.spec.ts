import { exitReason } from './exit-reason.js';

it.each([
  [{ code: 137, outOfMemory: true, error: '', memoryMb: 512 }, /ran out of its 512 MB/],
  [{ code: 137, outOfMemory: false, error: '', memoryMb: 512 }, /was killed/],
  [
    { code: 3, outOfMemory: false, error: '', memoryMb: 512 },
    /exit code 3\. Its last line: broken/,
  ],
  [
    { code: 127, outOfMemory: false, error: 'no such file', memoryMb: 512 },
    /could not run: no such file/,
  ],
  [undefined, /was removed/],
])('names the reason of an exit: %j', (exit, sentence) => {
  const reason = exitReason(exit, { lastLine: 'broken', setting: 'BELAY_MEMORY_MB' });
  expect(reason).toMatch(sentence);
  expect(reason).toMatch(/sandbox|agent/);
  expect(exitReason(exit, null)).not.toMatch(/sandbox|agent|broken|BELAY/);
});
