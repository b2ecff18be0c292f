import { isDeepStrictEqual } from 'node:util';
import type { BelayClient, LiveConnection } from '@belay/client';
import { isEnded, isEvent, type Event } from '@belay/protocol';
import type { Turn } from '@belay/testkit';

/** A session’s work: each step writes one line to a file and one to the terminal. */
export function countingTurns(steps: number): Turn[] {
  const step = (n: number): Turn => ({
    calls: [
      {
        operation: 'terminal.run',
        input: { command: `echo ${n} >>steps.txt; sleep 0.3; echo "<step $((${n}))>"` },
      },
    ],
  });
  return [...Array.from({ length: steps }, (_, index) => step(index + 1)), { finish: 'counted' }];
}

/**
 * Records what a viewer receives of one session during all faults, and compares it with what is
 * stored.
 */
export class Witness {
  readonly events: Event[] = [];
  readonly bytes: Buffer[] = [];
  /** Duplicates and gaps in events and bytes. */
  readonly wrong: string[] = [];
  readonly id: string;
  readonly #steps: number;
  #end = 0;

  constructor(id: string, steps: number, viewer: LiveConnection) {
    this.id = id;
    this.#steps = steps;
    viewer.watch(id, {
      events: (events) => events.forEach((event) => this.#see(event)),
      terminal: ({ terminal, offset, bytes }) => {
        if (terminal !== 'main') return;
        if (offset !== this.#end)
          this.wrong.push(`the terminal continued at byte ${offset}, not at ${this.#end}`);
        this.#end = offset + bytes.length;
        this.bytes.push(Buffer.from(bytes));
      },
    });
  }

  /** Whether the session has ended and the viewer has received all of it. */
  async settled(client: BelayClient): Promise<boolean> {
    const { state, lastSeq } = await client.sessions.get(this.id);
    if (!isEnded(state) || this.events.at(-1)?.seq !== lastSeq) return false;
    return this.#end >= (await client.sessions.terminal(this.id, 'main')).length;
  }

  /** One sentence for everything that was lost, duplicated or shown wrongly. */
  async faults(client: BelayClient): Promise<string[]> {
    const stored = await client.sessions.events(this.id, { limit: 50_000 });
    const terminal = Buffer.from(await client.sessions.terminal(this.id, 'main'));
    const summary = await client.sessions.get(this.id);
    const found = [...this.wrong, ...inLog(stored)];
    const differing = stored.find((event, at) => !isDeepStrictEqual(event, this.events[at]));
    if (differing) found.push(`the viewer saw something else as event ${differing.seq}`);
    if (this.events.length > stored.length) found.push('the viewer saw more than is stored');
    if (!Buffer.concat(this.bytes).equals(terminal))
      found.push('the viewer’s terminal differs from the stored one');
    const last = stored.findLast((event) => isEvent(event, 'state'));
    if (last && isEvent(last, 'state') && last.args.state !== summary.state)
      found.push(`its state is ${summary.state}, but the log says ${last.args.state}`);
    if (summary.state !== 'finished') found.push(`it ended as ${summary.state}: ${summary.reason}`);
    return [...found, ...(await this.#inFiles(client, stored))];
  }

  /** A step with a good result must have run exactly once; an interrupted one at most once. */
  async #inFiles(client: BelayClient, stored: readonly Event[]): Promise<string[]> {
    const patch = Buffer.from(await client.sessions.patch(this.id)).toString();
    const lines = [...patch.matchAll(/^\+(\d+)$/gm)].map(([, number]) => Number(number));
    const good = goodSteps(stored);
    const found = [];
    if (new Set(lines).size !== lines.length)
      found.push(`steps were done twice: ${lines.join(', ')}`);
    const missing = good.filter((step) => !lines.includes(step));
    if (missing.length > 0)
      found.push(`steps with a result are not in the files: ${missing.join(', ')}`);
    const called = stored.filter(({ action }) => action === 'terminal.run').length;
    if (called !== this.#steps) found.push(`${called} of ${this.#steps} steps were called`);
    return found;
  }

  #see(event: Event): void {
    const expected = (this.events.at(-1)?.seq ?? 0) + 1;
    if (event.seq !== expected) this.wrong.push(`event ${event.seq} came instead of ${expected}`);
    this.events.push(event);
  }
}

/** Checks the log itself: no gaps in the numbers, and at most one result for each call. */
function inLog(stored: readonly Event[]): string[] {
  const found = stored.flatMap(({ seq }, index) =>
    seq === index + 1 ? [] : [`event ${seq} is stored as number ${index + 1}`],
  );
  const results = stored.filter((event) => event.action === 'result').map(({ id }) => id);
  if (new Set(results).size !== results.length) found.push('a call has two results');
  return found;
}

/** The numbers of the steps whose command exited with 0. */
function goodSteps(stored: readonly Event[]): number[] {
  const done = new Set(
    stored.flatMap((event) =>
      isEvent(event, 'result') &&
      event.args.ok &&
      JSON.stringify(event.args.output).includes('"exitCode":0')
        ? [event.id]
        : [],
    ),
  );
  return stored
    .filter(({ action, id }) => action === 'terminal.run' && done.has(id))
    .map(({ args }) => Number(/echo (\d+)/.exec(String(args['command']))?.[1]));
}
