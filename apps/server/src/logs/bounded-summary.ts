import {
  excerpt,
  jsonFault,
  visibleText,
  withShortTexts,
  type SessionSummary,
} from '@belay/protocol';

/** Characters of an agent’s text that are part of the session list. The log has the full text. */
export const maxExcerpt = 2_000;
/** Questions in a summary; the log has all of them. */
const maxQuestions = 50;
/** Inputs of questions within these bounds are shown in full. */
const inputBounds = { characters: 20_000, depth: 64, values: 2_000 };

/**
 * Replaces texts that are too long for a list by excerpts, and makes the title, which stands beside others, one visible
 * line. Returns the same object if everything fits.
 */
export function boundedSummary(summary: SessionSummary): SessionSummary {
  const { task, reason, question, options, waitingFor, current } = summary;
  const title = visibleText(summary.title).replaceAll(/\s+/g, ' ');
  const fits =
    title === summary.title &&
    [title, task, reason, question, current].every((text) => (text?.length ?? 0) <= maxExcerpt) &&
    options.every((option) => option.length <= maxExcerpt) &&
    waitingFor.length <= maxQuestions &&
    waitingFor.every(isShort);
  if (fits) return summary;
  return {
    ...summary,
    title: excerpt(title, 200),
    task: excerpt(task, maxExcerpt),
    reason: reason && excerpt(reason, maxExcerpt),
    question: question && excerpt(question, maxExcerpt),
    options: options.slice(0, 9).map((option) => excerpt(option, maxExcerpt)),
    current: current && excerpt(current, maxExcerpt),
    // The answer refers to the id, so it is kept whole or left out.
    waitingFor: waitingFor
      .filter(({ id }) => id.length <= maxExcerpt)
      .slice(0, maxQuestions)
      .map(boundedQuestion),
  };
}

type Question = SessionSummary['waitingFor'][number];

const isShort = ({ id, operation, subject, input }: Question): boolean =>
  [id, operation, subject].every((text) => text.length <= maxExcerpt) &&
  jsonFault(input, inputBounds) === undefined;

function boundedQuestion(question: Question): Question {
  if (isShort(question)) return question;
  const { operation, subject, input } = question;
  const isDeep = jsonFault(input, { ...inputBounds, characters: Infinity }) !== undefined;
  const short = isDeep ? undefined : withShortTexts(input, maxExcerpt);
  const fits = short !== undefined && jsonFault(short, inputBounds) === undefined;
  return {
    ...question,
    operation: excerpt(operation, 300),
    subject: excerpt(subject, maxExcerpt),
    input: fits ? short : { note: 'Too large for this list. The session’s log has all of it.' },
  };
}
