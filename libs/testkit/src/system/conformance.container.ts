import { conformanceCases } from '../../../../apps/agent/src/terminal/conformance/cases.js';
import type {
  ConformanceTarget,
  Need,
} from '../../../../apps/agent/src/terminal/conformance/target.js';
import { describeSystem } from '../describe-system.js';
import { prepared } from '../environment.js';
import type { Followed } from '../follow.js';
import { idle } from '../idle.js';
import { sandboxTarget, sweep } from './conformance/sandbox-target.js';

/** Programs that each image has; a case that needs another says nothing about that image. */
const images: { title: string; image: string; has: Need[] }[] = [
  {
    title: 'the default image',
    image: 'BELAY_TEST_IMAGE',
    has: ['bash', 'less', 'top', 'python3', 'git'],
  },
  { title: 'bare Debian', image: 'BELAY_TEST_DEBIAN', has: ['bash'] },
  { title: 'busybox', image: 'BELAY_TEST_BUSYBOX', has: ['less', 'vi', 'top'] },
];

jest.setTimeout(240_000);

describeSystem('exec conformance through the whole platform', (server) => {
  describe.each(images)('in $title', ({ image, has }) => {
    let session: Followed;
    let target: ConformanceTarget;
    beforeAll(async () => {
      session = await idle(server, { image: prepared(image) });
      target = sandboxTarget(server, session);
    });
    afterEach(() => sweep(target));
    afterAll(async () => {
      session.close();
      await server.client.sessions.remove(session.id);
    });

    it('has the programs that its list says, so that no case is left out unseen', async () => {
      const programs = Object.keys(allNeeds).join(' ');
      const { text } = await target.run(
        `for p in ${programs}; do command -v $p >/dev/null && echo $p; done; :`,
      );
      expect(text.split('\n').filter(Boolean).toSorted()).toEqual(has.toSorted());
    });

    const lacking = (needs: Need[] = []) => needs.filter((need) => !has.includes(need));
    const held = conformanceCases.filter(({ needs }) => lacking(needs).length === 0);
    it.each(held)('$name', ({ run }) => run(target));

    it('a fork bomb at the limit of processes ends with its terminal, and the next one works', async () => {
      // Whether the shell itself can still start the last program is chance.
      await target.run('b() { b | b & }; b; sleep 600', { timeout: 2, wait: 60 });
      await target.close('main');
      const { text } = await target.run('ls / | wc -l | tr -d " "; ls /proc | grep -c "^[0-9]"', {
        wait: 60,
      });
      const [entries, processes] = text.split('\n').map(Number);
      expect(entries).toBeGreaterThan(3);
      expect(processes).toBeLessThan(20);
    });

    it('5 MiB of output leaves /health quick: it answers all the while', async () => {
      const flood = target.run('yes 0123456789abcde | head -c 5242880', { wait: 120 });
      let [answers, flooding] = [0, true];
      const ended = flood.finally(() => (flooding = false));
      while (flooding) {
        expect((await fetch(`${server.url}/health`)).status).toBe(200);
        if (flooding) answers += 1;
      }
      expect((await ended).exitCode).toBe(0);
      expect(answers).toBeGreaterThanOrEqual(5);
    });
  });
});

const allNeeds: Record<Need, true> = {
  bash: true,
  less: true,
  vi: true,
  top: true,
  python3: true,
  git: true,
};
