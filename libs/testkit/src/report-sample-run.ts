import type { EvaluationTrial, TrialState } from '@belay/protocol';
import type { BelayServer } from './belay-server.js';

const tasks = Array.from({ length: 24 }, (_, index) => `Own/${index}`);
const attempts = 3;

/**
 * Reports a benchmark run with trials in every state, as a real run would, for pages that show one.
 */
export async function reportSampleRun(server: BelayServer, id = 'shown'): Promise<void> {
  const { evaluations, uploads } = server.client;
  const upload = async (text: string) =>
    (await uploads.blob(new TextEncoder().encode(text), 'text/plain')).blob;
  const answer = await upload(patch);
  const log = await upload(output);
  const { epoch } = await evaluations.open(id, {
    suite: 'human-eval',
    agent: 'model',
    model: 'anthropic:claude-sonnet-4-5',
    tasks,
    attempts,
    folder: '/home/you/results/sonnet',
    host: 'laptop',
    created: new Date(Date.now() - 17 * 60_000).toISOString(),
  });
  const flagged = [
    {
      task: 'Own/5',
      why: 'An agent that does nothing passes, so the task cannot tell agents apart.',
    },
  ];
  const progress = {
    state: 'running' as const,
    phase: 'trials' as const,
    checks: null,
    reason: null,
    score: { value: 0.708, interval: [0.568, 0.817] as [number, number], valid: 0.729 },
    validity: { checked: 23, flagged },
  };
  const trials = tasks.flatMap((task, index) =>
    Array.from({ length: attempts }, (_, n) => trialOf(task, n + 1, index * attempts + n)),
  );
  const recorded = trials.map((trial) => (trial.verdict ? { ...trial, answer, log } : trial));
  await evaluations.report(id, {
    epoch,
    progress: { ...progress, phase: 'preflight' },
    trials: recorded,
  });
  await evaluations.report(id, { epoch, progress });
}

const states: TrialState[] = ['working', 'verifying', 'building'];

function trialOf(task: string, attempt: number, index: number): EvaluationTrial {
  const fails = index % 7 === 6 || index % 11 === 5;
  const outcome = index === 20 ? 'invalid' : fails ? 'fail' : 'pass';
  const why = {
    pass: { cause: null, detail: 'The tests passed.' },
    fail: { cause: 'wrong', detail: 'The program exited with code 1 before its last assertion.' },
    invalid: { cause: 'agent_failed', detail: 'The provider returned status 529: overloaded.' },
  }[outcome];
  const isDone = index < 48;
  return {
    task,
    attempt,
    state: isDone ? 'done' : (states[index - 48] ?? 'queued'),
    session: null,
    place: isDone ? 'this-machine' : null,
    verdict: isDone ? { outcome, reward: outcome === 'pass' ? 1 : 0, ...why } : null,
    seconds: { build: 0.1, agent: 12 + ((index * 7) % 40), verify: 1.4 },
    tokens: isDone ? 9_000 + 400 * (index % 9) : 0,
    dollars: isDone ? 0.031 + 0.002 * (index % 9) : 0,
    answer: null,
    log: null,
  };
}

const patch = `diff --git a/solution.py b/solution.py
--- a/solution.py
+++ b/solution.py
@@ -1,3 +1,3 @@
 def double(n):
     """Twice n."""
-    pass
+    return n + n if n > 0 else n
`;

const output = `Traceback (most recent call last):
  File "/verify/check.py", line 4, in <module>
    check(double)
  File "/verify/check.py", line 2, in check
    assert candidate(-4) == -8
AssertionError
`;
