import { AcpStage } from './acp-stage.js';

/**
 * A program that asks for this many permissions at once, all of which are granted once 32 wait;
 * `most` is how many waited at the same time.
 */
export function asksAtOnce(count: number): { acp: AcpStage; most: () => number } {
  let [open, most] = [0, 0];
  const release = Promise.withResolvers<void>();
  const request = {
    toolCall: { toolCallId: 't-NUMBER', kind: 'execute', rawInput: { command: 'ls NUMBER' } },
    options: [{ kind: 'allow_once', name: 'Yes', optionId: 'y' }],
  };
  const acp = new AcpStage({
    task: [['askAtOnce', count, request]],
    settings: { approvals: 'ask' },
    approve: async () => {
      open += 1;
      most = Math.max(most, open);
      if (open === 32) release.resolve();
      await release.promise;
      open -= 1;
      return { verdict: 'approved' };
    },
  });
  return { acp, most: () => most };
}
