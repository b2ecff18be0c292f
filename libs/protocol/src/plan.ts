/** A step of a plan: a list item with a checkbox. */
export interface PlanStep {
  done: boolean;
  text: string;
}

/** Steps of a plan in Markdown, and how many are done. Takes linear time for any text. */
export function planProgress(markdown: string): { steps: number; done: number } {
  const steps = markdown.split('\n').flatMap((line) => planStep(line) ?? []);
  return { steps: steps.length, done: steps.filter(({ done }) => done).length };
}

/** The step in a line of a plan, such as `- [ ] test`, `* [x] write` or `2. [ ] ship`; null for any other line. */
export function planStep(line: string): PlanStep | null {
  const [, mark, text] =
    /^\s*(?:[-*+]|\d{1,9}[.)])\s+\[([ xX])\](?:\s+([^\n]*))?$/.exec(line) ?? [];
  return mark === undefined ? null : { done: mark !== ' ', text: (text ?? '').trimEnd() };
}
