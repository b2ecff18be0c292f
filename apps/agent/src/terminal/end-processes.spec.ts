import { endProcesses } from './end-processes.js';
import type { Process } from './process-tree.js';

const firstPid = 2 ** 30;

/** A fork bomb at the limit of processes: each place that one leaves is taken by a child of one that still runs. */
class ForkBomb {
  readonly #processes = new Map<number, 'running' | 'stopped'>();
  #last = 0;

  constructor(limit: number) {
    while (this.#processes.size < limit) this.#fork();
  }

  readonly find = (): Process[] =>
    // Their numbers are too high for processes of this machine.
    [...this.#processes.keys()].map((at) => ({
      pid: firstPid + at,
      parent: 1,
      start: at,
      zombie: false,
    }));

  readonly signal = (processes: Process[], signal: NodeJS.Signals): void => {
    for (const { pid } of processes) {
      const own = pid - firstPid;
      if (!this.#processes.has(own)) continue;
      if (signal === 'SIGSTOP') this.#processes.set(own, 'stopped');
      if (signal !== 'SIGKILL') continue;
      this.#processes.delete(own);
      if ([...this.#processes.values()].includes('running')) this.#fork();
    }
  };

  #fork(): void {
    this.#processes.set(++this.#last, 'running');
  }
}

it('a fork bomb is stopped before it is killed', async () => {
  const bomb = new ForkBomb(80);
  await endProcesses(bomb.find, 0, bomb.signal);
  expect(bomb.find()).toEqual([]);
});

it('a small fork bomb, too, once it is known to be one', async () => {
  const bomb = new ForkBomb(5);
  await endProcesses(bomb.find, 0, bomb.signal);
  expect(bomb.find()).toEqual([]);
});

it('an ordinary command is killed without being stopped, which its shell would report', async () => {
  const signals: NodeJS.Signals[] = [];
  let left: Process[] = new ForkBomb(3).find();
  const signal = (processes: Process[], name: NodeJS.Signals) => {
    if (processes.length > 0) signals.push(name);
    left = [];
  };
  await endProcesses(() => left, 0, signal);
  expect(signals).toEqual(['SIGKILL']);
});
