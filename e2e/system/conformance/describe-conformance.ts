import { conformanceCases } from '../../../apps/agent/src/terminal/conformance/cases.js';
import { environmentCases } from '../../../apps/agent/src/terminal/conformance/environment-cases.js';
import type {
  ConformanceCase,
  ConformanceTarget,
  Need,
} from '../../../apps/agent/src/terminal/conformance/target.js';
import { eventually, until } from '@belay/testing';
import { describeSystem } from '@belay/testkit';
import { SandboxPool } from './sandbox-pool.js';

interface TestImage {
  title: string;
  /** The environment variable with the image’s name. */
  image: string;
  /** The programs in the image; cases that need others are skipped. */
  has: readonly Need[];
  /**
   * `all` cases with a shell that no other image here has; or a `sample`, and the `rest` of it with those at the limit
   * of processes and those that one image shows for all; or, in an image with the same shell, those of the
   * `environment`, and a sample of the others.
   */
  cases: 'all' | 'sample' | 'rest' | 'environment';
}

/** A sample has every nth case, and so all kinds of them. */
const nth = 14;

/** Runs the conformance cases for commands through the whole platform in one image. */
export function describeConformance(of: TestImage): void {
  const { title, image, has, cases } = of;
  describeSystem(`exec conformance through the whole platform, in ${title}`, (server) => {
    const sandboxes = new SandboxPool(server, image);
    // Concurrent tests begin before the server does.
    const { promise: started, resolve: begin } = Promise.withResolvers<void>();
    beforeAll(() => begin());
    afterAll(() => sandboxes.close());
    const runIn = async (run: (target: ConformanceTarget) => Promise<void>) => {
      await started;
      await sandboxes.use(run);
    };

    // Most wait more than they compute, so a few run at once, each in a sandbox of its own.
    const each = cases === 'sample' ? it.each : it.concurrent.each;
    const held = [...longestOf[cases], hasListedPrograms(has), ...casesOf(of)];
    each(held)('$name', ({ run }) => runIn(run));

    // Computes all the time, so nothing runs beside it.
    if (cases === 'rest') it(forkBomb.name, () => runIn(forkBomb.run));
    if (cases === 'sample') testHealthInFlood(runIn, () => server.url);
  });
}

function casesOf({ has, cases }: TestImage): ConformanceCase[] {
  const isOfImage = ({ needs = [], isForOneImage }: ConformanceCase) =>
    needs.every((need) => has.includes(need)) &&
    (!isForOneImage || cases === 'sample' || cases === 'rest');
  const isIn = {
    all: () => true,
    sample: (one: ConformanceCase, index: number) => index % nth === 0 && !one.isForOneImage,
    rest: (one: ConformanceCase, index: number) => !isIn.sample(one, index),
    environment: (one: ConformanceCase, index: number) =>
      isIn.sample(one, index) || environmentCases.includes(one),
  };
  return conformanceCases.filter(isOfImage).filter(isIn[cases]);
}

const hasListedPrograms = (has: readonly Need[]): ConformanceCase => ({
  name: 'has the listed programs, so that no case is skipped unnoticed',
  async run(target) {
    const programs = Object.keys(allNeeds).join(' ');
    const { text } = await target.run(
      `for p in ${programs}; do command -v $p >/dev/null && echo $p; done; :`,
    );
    expect(text.split('\n').filter(Boolean).toSorted()).toEqual(has.toSorted());
  },
});

type RunIn = (run: (target: ConformanceTarget) => Promise<void>) => Promise<void>;

function testHealthInFlood(runIn: RunIn, url: () => string): void {
  it('/health answers during 5 MiB of output and more', () =>
    runIn(async (target) => {
      const more = 'until rm enough 2>/dev/null; do yes 0123456789abcde | head -c 262144; done';
      const command = `yes 0123456789abcde | head -c 5242880; ${more}`;
      const ended = target.run(command, { wait: 120 });
      const flooding = Promise.resolve('flooding');
      for (let answers = 0; answers < 20; answers += 1) {
        const answer = await fetch(`${url()}/health`);
        expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
        expect(await Promise.race([ended, flooding])).toBe('flooding');
      }
      await target.run('touch enough', { terminal: 'other' });
      expect((await ended).exitCode).toBe(0);
    }));
}

const processLimit: ConformanceCase = {
  name: 'at the limit of processes a new terminal reports it, and opens once there are fewer',
  async run(target) {
    let said = '';
    const opens = () =>
      target.run('echo on', { terminal: 'fresh' }).then(
        () => true,
        (error: Error) => void (said = error.message),
      );
    // An interactive shell that cannot fork retries for a while; it stays busy meanwhile and
    // keeps its own process.
    const fill = () => target.run('while :; do sleep 600 & done', { wait: 0.1 });
    // Processes of the previous test may end just after the loop gave up, which frees places
    // again.
    await until(
      'the limit',
      async () => {
        await fill().catch((error: Error) => void (said = error.message));
        if (!(await opens()) && /process limit/.test(said)) return true;
        await target.close('fresh');
        return false;
      },
      { timeoutMs: 120_000, intervalMs: 200, state: () => said },
    );
    await Promise.all(['main', 'fresh'].map((terminal) => target.close(terminal)));
    expect((await target.run('echo on', { terminal: 'fresh' })).text).toBe('on\n');
  },
};

const openedAtLimit: ConformanceCase = {
  name: 'attack: terminals opened while programs take the last processes leave the agent alive',
  async run(target) {
    const round = async () => {
      await target.run('while :; do sleep 600 & done', { wait: 0.1 });
      const names = Array.from({ length: 4 }, (_, index) => `opened-${index}`);
      await Promise.allSettled(names.map((terminal) => target.run(':', { terminal, wait: 0.1 })));
      await Promise.all((await target.list()).map(({ terminal }) => target.close(terminal)));
    };
    for (let rounds = 0; rounds < 5; rounds += 1) await round();
    expect((await target.run('echo on', { wait: 60 })).text).toBe('on\n');
  },
};

const forkBomb: ConformanceCase = {
  name: 'a fork bomb at the limit of processes ends with its terminal, and the next one works',
  async run(target) {
    // Whether the shell can still start the last program is undefined.
    await target.run('b() { b | b & }; b; sleep 600', { timeout: 2, wait: 60 });
    await target.close('main');
    const look = 'ls / | wc -l | tr -d " "; ls /proc | grep -c "^[0-9]"';
    await eventually(async () => {
      const { text } = await target.run(look, { wait: 60 });
      const [entries, processes] = text.split('\n').map(Number);
      expect(entries).toBeGreaterThan(3);
      expect(processes).toBeLessThan(20);
    });
  },
};

/** Those that wait the longest, which begin first. */
const longestOf: Record<TestImage['cases'], ConformanceCase[]> = {
  all: [processLimit],
  sample: [],
  rest: [openedAtLimit, processLimit],
  environment: [],
};

const allNeeds: Record<Need, true> = {
  bash: true,
  less: true,
  vi: true,
  top: true,
  python3: true,
  git: true,
};
