import { run, type Followed } from '@belay/testkit';
import { eventNumbers, gaplessNumbers } from './event-numbers.js';

/** Prints so many lines, five in a second, which show whether it runs once, twice, or in part. */
export const counting = (lines: number) =>
  run(`for i in $(seq ${lines}); do echo line $i; sleep 0.2; done`, { wait: 300, timeout: 300 });

/** Waits for the end of a session that was `counting`: all that happened is in its log and its terminal, once. */
export async function expectCountedOnce(session: Followed, lines: number): Promise<void> {
  await session.finished();
  await session.printed(`line ${lines}`);
  expect(eventNumbers(session)).toEqual(gaplessNumbers(session));
  const counted = Array.from({ length: lines }, (_, at) => `line ${at + 1}`);
  expect(session.terminal().match(/^line \d+/gm)).toEqual(counted);
  session.close();
}
