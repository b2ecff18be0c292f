import { errorFrom } from '@belay/protocol';
import { containerOf, run, type BelayServer, type Followed } from '@belay/testkit';
import { until } from '@belay/testing';
import { eventNumbers, gaplessNumbers } from './event-numbers.js';

/** Prints numbered lines, five in a second, until it is enough; they show whether it runs once, twice, or in part. */
export const counting = run(
  'i=0; until [ -f enough ]; do echo line $((i+=1)); sleep 0.2; done; echo counted $i',
  { wait: 300, timeout: 300 },
);

/** Waits until a session that is `counting` goes on, and tells it through a server that it is enough. */
export async function endCounting(
  server: Pick<BelayServer, 'client'>,
  session: Followed,
): Promise<void> {
  const before = linesOf(session).length;
  await session.until(() => linesOf(session).length > before, 'the next line');
  let said = '';
  const tell = () =>
    server.client.sessions
      .call(session.id, 'files.write', { path: 'enough', content: '', overwrite: true })
      .then(
        () => true,
        (error: unknown) => void (said = errorFrom(error).message),
      );
  await until('it is told', tell, { intervalMs: 100, state: () => said });
}

/** Tells it so inside its container, of which no server learns. */
export async function endCountingUnseen({ id }: Followed): Promise<void> {
  const container = await containerOf(id);
  const exec = await container.exec({ User: '1000', Cmd: ['touch', '/workspace/enough'] });
  await exec.start({ Detach: true });
}

/** Waits for the end of a session that was `counting`: all that happened is in its log and its terminal, once. */
export async function expectCountedOnce(session: Followed): Promise<void> {
  await session.finished();
  await session.printed(/^counted \d+/m);
  expect(eventNumbers(session)).toEqual(gaplessNumbers(session));
  const count = Number(/^counted (\d+)/m.exec(session.terminal())?.[1]);
  expect(count).toBeGreaterThan(0);
  expect(linesOf(session)).toEqual(Array.from({ length: count }, (_, at) => `line ${at + 1}`));
  session.close();
}

const linesOf = (session: Followed): string[] => session.terminal().match(/^line \d+/gm) ?? [];
