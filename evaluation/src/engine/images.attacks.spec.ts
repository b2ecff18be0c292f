import { DockerTasks } from '@belay/containers';
import { fileEntry } from '../entries.js';
import { Images } from './images.js';

const engine = new DockerTasks();
const busybox = process.env.BELAY_TEST_BUSYBOX ?? '';
const built: string[] = [];
afterAll(async () => {
  for (const name of built) await engine.forget(name);
});

/** Whether a Dockerfile sees network interfaces besides the loopback while it is built: 1 or 0. */
async function cardsIn(buildNetwork: 'default' | 'none', special: string): Promise<number> {
  const fromMap: [string, string][] = [['hub.example/*', busybox]];
  const images = new Images({ engine, sandbox: null, fromMap, buildNetwork });
  const lines = [
    'FROM hub.example/base:1',
    `RUN ${special} echo ${buildNetwork} && ls /sys/class/net | grep -vc '^lo$' >/cards; true`,
    'RUN test "$(cat /cards)" = 0 || exit 7',
  ];
  const signal = AbortSignal.timeout(120_000);
  const source = { kind: 'build' as const, files: [fileEntry('Dockerfile', lines.join('\n'))] };
  try {
    built.push((await images.ensure(source, signal)).name);
    return 0;
  } catch (error) {
    if (/returned a non-zero code: 7|exit code: 7/.test(String(error))) return 1;
    throw error;
  }
}

describe('attacks: the Dockerfile of a task', () => {
  it.each([
    ['the classic builder', ''],
    ['BuildKit', '--mount=type=tmpfs,target=/scratch'],
  ])('has no network while it is built without one, by %s', async (_, special) => {
    expect(await cardsIn('none', special)).toBe(0);
    // Positive control: the engine’s default network is visible.
    expect(await cardsIn('default', special)).toBe(1);
  });
});
