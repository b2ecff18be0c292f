import { Agent, request as post } from 'node:http';
import { start } from '@belay/testkit';
import { openPlayedModel, type PlayedStep } from './played-model.ts';
import { processorTime } from './processor-time.ts';
import { untilEnded, withServer } from './platform.ts';
import { median, timed } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title = 'the platform’s own cost of a step, shell call `echo`';

const early = 20;
const late = 2_000;
/** This many steps before and after the measured one are sampled as well. */
const around = 9;
/**
 * Processor time is measured over this many steps, apart from the sampled ones, because reading it
 * takes time.
 */
const stretch = 100;
const stretches = { early: early + around + 1, late: late - around - 1 - stretch };

/**
 * From the end of a reply to the last byte of the next request. The floor is sending only that
 * request’s bytes over one connection.
 */
export async function measure(): Promise<Row[]> {
  let spent: (step: number) => Promise<void> = async () => undefined;
  const times = new Map<number, number>();
  const count = late + around;
  const model = await openPlayedModel({
    count,
    replyAt: (step) => ({
      text: `I take step ${step}.`,
      call:
        step < count
          ? {
              name: 'terminal_run',
              input: { command: `echo step ${step} of a session that grows` },
            }
          : { name: 'finish', input: { summary: 'Echoed.' } },
    }),
    stepped: async (step) => {
      // Not awaited: the reply is not part of it.
      spent(step).catch((error: unknown) => console.error(error));
    },
  });
  const environment = {
    OPENAI_COMPATIBLE_BASE_URL: `${model.url}/v1`,
    OPENAI_COMPATIBLE_API_KEY: 'none',
  };
  try {
    const steps = await withServer(environment, async (server) => {
      const session = await start(server, {
        task: 'Echo.',
        model: 'openai-compatible:bench',
        budgets: { steps: late + 2 * around },
      });
      spent = async (step) => {
        const begun = step - stretch;
        if (Object.values(stretches).some((from) => from === step || from === begun))
          times.set(step, await processorTime(server, session.id));
      };
      // A viewer would take processor time from the measured steps.
      session.close();
      return Promise.race([model.steps, untilEnded(server, session.id)]);
    });
    const [first, last] = [at(steps, early), at(steps, late)];
    const during = (from: number) =>
      ((times.get(from + stretch) ?? NaN) - (times.get(from) ?? NaN)) / stretch;
    const floors = { first: await floorOf(model.url, first), last: await floorOf(model.url, last) };
    return [
      { what: `step ${early}`, figure: first.ms, unit: 'ms', target: 25, floor: floors.first },
      { what: `step ${late}`, figure: last.ms, unit: 'ms', target: null, floor: floors.last },
      {
        what: `step ${late} without its floor, over step ${early} without its own`,
        figure: (last.ms - floors.last) / (first.ms - floors.first),
        unit: '×',
        target: 1.5,
      },
      {
        what: `processor time of a step before step ${late}, over one after step ${early}`,
        figure: during(stretches.late) / during(stretches.early),
        unit: '×',
        target: null,
      },
      { what: `prompt of step ${late}`, figure: last.bytes / 1000, unit: 'kB', target: null },
    ];
  } finally {
    model.close();
  }
}

/** The medians of the steps around this one. */
function at(steps: readonly PlayedStep[], step: number): PlayedStep {
  const near = steps.slice(step - 1 - around, step + around);
  return { ms: median(near.map(({ ms }) => ms)), bytes: median(near.map(({ bytes }) => bytes)) };
}

/** Posts as many bytes as the step’s request to the same process, over a kept-alive connection. */
async function floorOf(url: string, { bytes }: PlayedStep): Promise<number> {
  const body = Buffer.alloc(bytes, 'x');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const once = () =>
    new Promise<void>((resolve, reject) => {
      const sent = post(`${url}/floor`, { method: 'POST', agent }, (response) => {
        response.resume().once('end', resolve);
      });
      sent.once('error', reject);
      sent.end(body);
    });
  await timed(5, once);
  const samples = await timed(20, once);
  agent.destroy();
  return median(samples);
}
