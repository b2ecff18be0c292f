import { percentText, pointsText } from '@belay/protocol';
import type { RunComparison, Summary, Validity } from '@belay/evaluation';
import { singleLine } from './output.js';

/** The number of flagged tasks that are listed by name. */
const maxNamed = 5;

/** The results of preflights for a run’s tasks, printed before its trials. */
export function validitySentences(found: Validity[], tasks: number): string[] {
  const flagged = found.filter(({ valid }) => !valid);
  const unchecked = tasks - found.length;
  const named = flagged
    .slice(0, maxNamed)
    .map(({ task, why }) => `  ${singleLine(`${task}: ${why}`, 160)}`);
  const more = flagged.length - named.length;
  return [
    ...(flagged.length > 0
      ? [`Flagged by preflight: ${flagged.length} of ${tasks} tasks cannot measure an agent.`]
      : []),
    ...named,
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...(unchecked > 0
      ? [
          `${unchecked} of ${tasks} tasks are not checked. Use --preflight to check them first; it calls no model.`,
        ]
      : []),
  ];
}

/** The score, or, before the end of the run, how far it is. */
export function scoreLine(summary: Summary): string {
  const { suite, model, agent, score, interval, trials } = summary;
  const [low, high] = interval;
  const text =
    trials.done < trials.all
      ? `not finished, ${trials.done} of ${trials.all} trials; ${percentText(score)} so far, missing trials count as 0`
      : `${percentText(score)} (95%: ${percentText(low)} to ${percentText(high)})`;
  return `${suite} · ${model ?? agent}: ${text}`;
}

/** Printed beside a score: how many of its tasks are valid. */
export function validityLine({ validity, validScore, tasks }: Summary, remedy: string): string {
  if (!validity) return `validity: not checked (${remedy})`;
  const { checked, flagged } = validity;
  const unchecked = tasks - checked;
  const score =
    validScore !== null && (flagged.length > 0 || unchecked > 0)
      ? `; score over these ${percentText(validScore)}`
      : '';
  const rest = unchecked > 0 ? `; ${unchecked} not checked (${remedy})` : '';
  return `validity: ${checked - flagged.length} of ${tasks} tasks are valid${score}${rest}`;
}

/** The same line for two runs. */
export function comparedValidity({ tasks, validity, unflagged }: RunComparison): string {
  const { checked, flagged } = validity;
  if (checked === 0) return 'validity: not checked (belay eval preflight)';
  const rest = checked < tasks ? `; ${tasks - checked} not checked` : '';
  if (!unflagged)
    return `validity: none of ${checked === tasks ? 'the' : `${checked} checked`} tasks is flagged${rest}`;
  const [low, high] = unflagged.interval;
  return `validity: ${flagged.length} of ${tasks} tasks are flagged; without them B − A: ${pointsText(unflagged.difference)} (95%: ${pointsText(low)} to ${pointsText(high)})${rest}`;
}
