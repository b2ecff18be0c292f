import type { Machines } from '../machines/machines.js';
import { CheckRunner } from './check-runner.js';
import type { Sandboxes } from './sandboxes.js';

const { signal } = new AbortController();
const ran = { exitCode: 0, output: 'fine', seconds: 1 };

/** Of sessions that are named after where they are; `here` is in a container of this server. */
function setUp() {
  const call = jest.fn(async () => ran);
  const machines = { known: (kind: string) => ({ kind }) } as unknown as Machines;
  const sandboxes = {
    ofSession: (session: string) =>
      session === 'none'
        ? undefined
        : { link: { call }, machine: session === 'here' ? undefined : session },
  } as unknown as Sandboxes;
  const runner = new CheckRunner(sandboxes, machines);
  return { call, run: (session: string) => runner.runCheck(session, 'npm test', signal) };
}

it.each(['here', 'container'])(
  'is run by the agent of a session in a container (%s)',
  async (session) => {
    const { call, run } = setUp();
    expect(await run(session)).toBe(ran);
    const input = { command: 'npm test', timeoutMs: 600_000 };
    expect(call).toHaveBeenCalledWith('check.run', input, { signal });
  },
);

it('is not run without a sandbox, or where programs could forge its outcome', async () => {
  const { call, run } = setUp();
  await expect(run('none')).rejects.toMatchObject({ code: 'conflict' });
  await expect(run('bare')).rejects.toThrow('forge');
  expect(call).not.toHaveBeenCalled();
});
