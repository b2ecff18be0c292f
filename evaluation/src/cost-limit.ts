import { dollarsText } from '@belay/protocol';
import type { Trial } from './model.js';

/**
 * Why a run starts no more trials, in a sentence with what to do; undefined while it may. Trials in
 * progress are not stopped, so a run can cost more than its limit by what these cost.
 */
export function costLimitReached(
  trials: Iterable<Trial>,
  maxDollars: number | undefined,
): string | undefined {
  if (maxDollars === undefined) return undefined;
  let dollars = 0;
  for (const trial of trials) {
    if (trial.tokens > 0 && trial.dollars === 0)
      return `The price of ${trial.model} is not known, so --max-dollars cannot limit the cost. Add ?price=IN/OUT to the model’s name, in dollars per million tokens, or resume the run without a limit: --max-dollars none.`;
    dollars += trial.dollars;
  }
  if (dollars < maxDollars) return undefined;
  return `The trials have cost ${dollarsText(dollars)} of at most ${dollarsText(maxDollars)}. Resume the run with a higher --max-dollars.`;
}
