import { describeSeat } from '../../testing/describe-seat.js';
import type { Seat, Situation } from '../../testing/seat.js';
import type { ScriptedReply } from '../../testing/stage.js';

export const thinking = { calls: [{ operation: 'think', input: { thought: 'x' } }] };
export const finishing = (input: object = { summary: 'done' }) => ({
  calls: [{ operation: 'finish', input }],
});
export const writing = (path = 'a.ts') => ({
  calls: [{ operation: 'files.write', input: { path, content: 'x\n' } }],
});
export const running = (command: string, more: object = {}) => ({
  calls: [{ operation: 'terminal.run', input: { command, ...more } }],
});
export const planning = (markdown: string) => ({
  calls: [{ operation: 'plan.update', input: { markdown } }],
});
export const ends = ({ stage }: Seat) =>
  stage.results().flatMap(({ args }) => (args['operation'] === 'finish' ? [args] : []));

/** The first finish is refused for this reason, the second counts. */
export const doubted = (name: string, turns: ScriptedReply[], reason: RegExp): Situation => ({
  name,
  files: { 'README.md': 'Hello\n' },
  turns: () => [...turns, finishing(), finishing()],
  also: (seat) => {
    const { told } = seat;
    expect(told.at(-1)).toMatch(/^finish failed: [^]*Not finished yet, because:/);
    expect(told.at(-1)).toMatch(reason);
    expect(told.at(-1)).toMatch(/call finish again if all is right as it is/);
    expect(seat.stage.requests).toHaveLength(turns.length + 2);
  },
});
/** The first finish counts. */
export const believed = (
  name: string,
  turns: ScriptedReply[],
  more: Partial<Situation> = {},
): Situation => ({
  name,
  files: { 'README.md': 'Hello\n' },
  turns: () => [...turns, finishing()],
  also: ({ stage }) => expect(stage.requests).toHaveLength(turns.length + 1),
  ...more,
});

/** Plays how work ends. */
export const describeFinish = (situations: readonly Situation[]): void =>
  describeSeat('the end of its work', situations);
