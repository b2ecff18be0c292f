import { rebuiltPrompts } from './rebuilt-prompts.js';
import { Seat, type Situation } from './seat.js';

/** Plays the situations, each as a test of its name. */
export function describeSeat(title: string, situations: readonly Situation[]): void {
  describe(`the model’s seat: ${title}`, () => {
    let seat: Seat | undefined;
    afterEach(() => seat?.close());

    it.each(situations.map((one) => [one.name, one] as const))('%s', async (_, situation) => {
      seat = new Seat(situation);
      const { stage } = seat;
      const meanwhile = situation.meanwhile?.(seat);
      await stage.event(situation.until ?? 'finish');
      await meanwhile;
      const { told: all } = seat;
      if (situation.told)
        expect(all).toEqual(situation.told.map((one, index) => expected(one, all[index])));
      if (!situation.breaks) expect(seat.broken).toBeNull();
      // A reply that was broken off has a request, but is not in the log.
      const requests = stage.requests.map(({ messages }) => JSON.stringify(messages));
      for (const messages of rebuiltPrompts(stage.log))
        expect(requests).toContain(JSON.stringify(messages));
      situation.also?.(seat);
    });
  });
}

function expected(one: string | RegExp | null, actual: string | undefined): unknown {
  if (one === null) return actual;
  return typeof one === 'string' ? one : expect.stringMatching(one);
}
