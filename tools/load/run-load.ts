import { setTimeout as sleep } from 'node:timers/promises';
import { BelayServer, script } from '@belay/testkit';
import { AgentSlot } from './agent-slot.ts';
import { sampleOf, type Sample } from './sample.ts';
import type { LoadOutcome } from './verdict.ts';

export interface Load {
  minutes: number;
  agents: number;
  viewers: number;
}

const sampleEverySeconds = 5;
/** A session lasts about a minute, so that many end and begin while others run. */
const turns = 12;
const secondsOfTurn = 4;
/** Small, because fifty agents share the machine. */
const memoryMb = 256;
/** How long the server may take to release the resources of ended sessions. */
const settleSeconds = 60;

/** Runs the load on a new server for the given time, and samples that server continuously. */
export async function runLoad({ minutes, agents, viewers }: Load): Promise<LoadOutcome> {
  const server = new BelayServer({
    BELAY_LOG_LEVEL: 'warn',
    BELAY_MAX_SANDBOXES: String(agents),
    BELAY_MEMORY_MB: String(memoryMb),
  });
  await server.start();
  try {
    const begun = performance.now();
    const before = await sampleOf(server, begun);
    const model = script(server.data, workingTurns());
    const slots = Array.from(
      { length: agents },
      (_, index) => new AgentSlot(server, model, Math.floor((viewers + index) / agents)),
    );
    const running = slots.map((slot) => slot.run());
    const samples: Sample[] = [];
    while (performance.now() - begun < minutes * 60_000) {
      await sleep(sampleEverySeconds * 1000);
      const sample = await sampleOf(server, begun);
      samples.push(sample);
      report(sample);
    }
    for (const slot of slots) slot.end();
    await Promise.all(running);
    const after = await settled(server, before, begun);
    const sum = (of: (slot: AgentSlot) => number) => slots.reduce((all, slot) => all + of(slot), 0);
    return {
      samples,
      before,
      after,
      sessions: sum(({ finished }) => finished),
      views: sum(({ seen }) => seen),
      failures: slots.flatMap(({ failures }) => failures),
    };
  } finally {
    await server.dispose();
  }
}

/** Output of various sizes, and occasionally a file, which causes a commit. */
const workingTurns = () => [
  ...Array.from({ length: turns }, (_, turn) => ({
    say: `Turn ${turn}.`,
    calls: [
      {
        operation: 'terminal.run',
        input: {
          command: `seq ${10 ** (turn % 4)}; ${turn % 3 === 0 ? `seq ${turn} 99 > file-${turn}; ` : ''}sleep ${secondsOfTurn}`,
        },
      },
    ],
  })),
  { finish: 'Done.' },
];

function report({ seconds, megabytes, descriptors, sockets, containers }: Sample): void {
  console.log(
    `${seconds.toFixed(0).padStart(4)} s  ${megabytes.toFixed(0)} MB  ${descriptors} descriptors, ${sockets} of them sockets  ${containers} containers`,
  );
}

/** The last sample of the idle server: once it is as before, or after the time limit. */
async function settled(server: BelayServer, before: Sample, begun: number): Promise<Sample> {
  const end = performance.now() + settleSeconds * 1000;
  for (;;) {
    const sample = await sampleOf(server, begun);
    const isAsBefore =
      sample.containers === 0 &&
      sample.descriptors <= before.descriptors &&
      sample.sockets <= before.sockets;
    if (isAsBefore || performance.now() > end) return sample;
    await sleep(1_000);
  }
}
