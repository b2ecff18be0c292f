import { conformanceCases } from '../../../apps/agent/src/terminal/conformance/cases.js';
import type {
  ConformanceTarget,
  Need,
} from '../../../apps/agent/src/terminal/conformance/target.js';
import { eventually, until } from '@belay/testing';
import { describeSystem, type Followed, idle, prepared } from '@belay/testkit';
import { sandboxTarget, sweep } from './sandbox-target.js';

interface TestImage {
  title: string;
  /** The environment variable with the image’s name. */
  image: string;
  /** The programs in the image; cases that need others are skipped. */
  has: readonly Need[];
  /**
   * Runs only every nth case, to sample all kinds of cases, and leaves out those at the limit of
   * processes, which are slow; by default, all cases are run.
   */
  every?: number;
  /** Runs also what one image shows for all: the cases of many bytes, and an attack on the agent. */
  isFirst?: true;
}

/** Runs the conformance cases for commands through the whole platform in one image. */
export function describeConformance(of: TestImage): void {
  const { title, image, has, every = 1, isFirst = false } = of;
  describeSystem(`exec conformance through the whole platform, in ${title}`, (server) => {
    let session: Followed;
    let target: ConformanceTarget;
    beforeAll(async () => {
      session = await idle(server, { image: prepared(image) });
      target = sandboxTarget(server, session);
    });
    afterEach(() => sweep(target));
    afterAll(() => session.close());

    it('has the listed programs, so that no case is skipped unnoticed', async () => {
      const programs = Object.keys(allNeeds).join(' ');
      const { text } = await target.run(
        `for p in ${programs}; do command -v $p >/dev/null && echo $p; done; :`,
      );
      expect(text.split('\n').filter(Boolean).toSorted()).toEqual(has.toSorted());
    });

    const lacking = (needs: Need[] = []) => needs.filter((need) => !has.includes(need));
    const held = conformanceCases
      .filter(({ needs }) => lacking(needs).length === 0)
      .filter((_case, index) => index % every === 0)
      .filter(({ isForOneImage }) => isFirst || !isForOneImage);
    it.each(held)('$name', ({ run }) => run(target));

    if (every === 1) testProcessLimit(() => target);
    if (isFirst) testOpenedAtLimit(() => target);

    it('/health answers during 5 MiB of output and more', async () => {
      const more = 'until rm enough 2>/dev/null; do yes 0123456789abcde | head -c 262144; done';
      const command = `yes 0123456789abcde | head -c 5242880; ${more}`;
      const ended = target.run(command, { wait: 120 });
      const flooding = Promise.resolve('flooding');
      for (let answers = 0; answers < 20; answers += 1) {
        const answer = await fetch(`${server.url}/health`);
        expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
        expect(await Promise.race([ended, flooding])).toBe('flooding');
      }
      await target.run('touch enough', { terminal: 'other' });
      expect((await ended).exitCode).toBe(0);
    });
  });
}

/** The target at its limit of processes. */
function testProcessLimit(target: () => ConformanceTarget): void {
  it('a fork bomb at the limit of processes ends with its terminal, and the next one works', async () => {
    // Whether the shell can still start the last program is undefined.
    await target().run('b() { b | b & }; b; sleep 600', { timeout: 2, wait: 60 });
    await target().close('main');
    const look = 'ls / | wc -l | tr -d " "; ls /proc | grep -c "^[0-9]"';
    await eventually(async () => {
      const { text } = await target().run(look, { wait: 60 });
      const [entries, processes] = text.split('\n').map(Number);
      expect(entries).toBeGreaterThan(3);
      expect(processes).toBeLessThan(20);
    });
  });

  it('at the limit of processes a new terminal reports it, and opens once there are fewer', async () => {
    let said = '';
    const opens = () =>
      target()
        .run('echo on', { terminal: 'fresh' })
        .then(
          () => true,
          (error: Error) => void (said = error.message),
        );
    // An interactive shell that cannot fork retries for a while; it stays busy meanwhile and
    // keeps its own process.
    const fill = () => target().run('while :; do sleep 600 & done', { wait: 0.1 });
    // Processes of the previous test may end just after the loop gave up, which frees places
    // again.
    await until(
      'the limit',
      async () => {
        await fill().catch((error: Error) => void (said = error.message));
        if (!(await opens()) && /process limit/.test(said)) return true;
        await target().close('fresh');
        return false;
      },
      { timeoutMs: 120_000, intervalMs: 200, state: () => said },
    );
    await Promise.all(['main', 'fresh'].map((terminal) => target().close(terminal)));
    expect((await target().run('echo on', { terminal: 'fresh' })).text).toBe('on\n');
  });
}

function testOpenedAtLimit(target: () => ConformanceTarget): void {
  it('attack: terminals opened while programs take the last processes leave the agent alive', async () => {
    const round = async () => {
      await target().run('while :; do sleep 600 & done', { wait: 0.1 });
      const names = Array.from({ length: 4 }, (_, index) => `opened-${index}`);
      await Promise.allSettled(names.map((terminal) => target().run(':', { terminal, wait: 0.1 })));
      await Promise.all((await target().list()).map(({ terminal }) => target().close(terminal)));
    };
    for (let rounds = 0; rounds < 5; rounds += 1) await round();
    expect((await target().run('echo on', { wait: 60 })).text).toBe('on\n');
  });
}

const allNeeds: Record<Need, true> = {
  bash: true,
  less: true,
  vi: true,
  top: true,
  python3: true,
  git: true,
};
