import { fact, type Handlers, type dialogueOperations } from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import type { Journal } from '../journal.js';

type PlanOperations = Pick<typeof dialogueOperations, 'plan.update' | 'think'>;

/** The plan that a person sees, and thoughts: both are nothing but their events. */
export function createPlan({
  journal,
}: {
  journal: Journal;
}): Handlers<PlanOperations, CallContext> {
  return {
    async 'plan.update'({ markdown }, { id }) {
      const { steps, done } = progress(markdown);
      const message = steps > 0 ? `The plan: ${done} of ${steps} steps done` : 'The plan changed';
      journal.append(fact('agent', 'plan', { args: { markdown }, message, id }));
      return { steps, done };
    },
    async think() {
      return {};
    },
  };
}

function progress(markdown: string): { steps: number; done: number } {
  const boxes = [...markdown.matchAll(/^\s*(?:[-*+]|\d+[.)]) \[([ xX])\]/gm)];
  return { steps: boxes.length, done: boxes.filter(([, mark]) => mark !== ' ').length };
}
