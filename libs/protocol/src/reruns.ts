import { z } from 'zod';
import { blobId } from './models.js';

/** What reruns say about a claim. Only `confirmed` speaks for it; `inconclusive` speaks neither for nor against it. */
export const rerunVerdict = z.enum(['confirmed', 'refuted', 'inconclusive']);
export type RerunVerdict = z.infer<typeof rerunVerdict>;

/** A test that fails without a change, for a reason that it prints, and passes with it. */
export const reproduction = z.object({
  command: z
    .string()
    .trim()
    .min(1)
    .max(2_000)
    .describe('The command line that runs the test, such as `npm test -- test/a.test.js`.'),
  files: z
    .array(z.string().min(1).max(1_000))
    .min(1)
    .max(50)
    .describe('The test files of the change that it needs. They are added to the state before it.'),
  expects: z
    .string()
    .trim()
    .min(8)
    .max(500)
    .describe('What it prints where it fails, and only there: the reason, not just “failed”.'),
});
export type Reproduction = z.infer<typeof reproduction>;

/** The files that a command was run on. */
export const rerunState = z.enum(['base', 'base+tests', 'result', 'guarded']);
export type RerunState = z.infer<typeof rerunState>;

/** One run of a command in a sandbox of its own. */
export const rerun = z.object({
  on: rerunState.describe(
    '`base`: before the change; `base+tests`: with the named test files of the change; `result`: with the change; `guarded`: with the change, but the files that decide how tests run are as before it.',
  ),
  tree: z.string().describe('The git tree with the files.'),
  exitCode: z.int().nullable().describe('Null for a run that did not come to its end.'),
  seconds: z.int().nonnegative(),
  output: blobId.nullable().describe('What it printed; null for nothing.'),
  isReasonPrinted: z.boolean().describe('Whether it printed the reason that the claim names.'),
  problem: z.string().nullable().describe('Why it did not come to its end.'),
});
export type Rerun = z.infer<typeof rerun>;

const judged = {
  verdict: rerunVerdict,
  why: z.string().describe('The verdict in a sentence.'),
  command: z.string(),
  runs: z.array(rerun).describe('In the order in which they were made.'),
};

/** A claim about a change that was judged by running commands again. */
export const judgedClaim = z.discriminatedUnion('claim', [
  z.object({
    claim: z.literal('reproduction'),
    ...judged,
    files: reproduction.shape.files,
    expects: reproduction.shape.expects,
  }),
  z.object({ claim: z.literal('check'), ...judged }),
]);
export type JudgedClaim = z.infer<typeof judgedClaim>;

/** A claim and its verdict in a sentence. */
export const claimText = ({ claim, verdict, why }: JudgedClaim): string =>
  `${claim === 'check' ? 'Check' : 'Reproduction'} ${verdict}: ${why}`;

/** A command that makes what tests need and their image does not have, in a sandbox with a network. */
export const rerunSetup = z.object({
  command: z
    .string()
    .trim()
    .min(1)
    .max(2_000)
    .describe('Such as `npm ci`, or a script of the repository.'),
  hosts: z.array(z.string()).describe('The only hosts that it can reach.'),
  paths: z
    .array(
      z
        .string()
        .min(1)
        .max(300)
        .regex(
          /^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$))/,
          'a path below the workspace, such as node_modules',
        ),
    )
    .min(1)
    .max(20)
    .describe('What is kept of what it makes, such as `node_modules`.'),
  seconds: z.int().positive().max(3_600).default(600).describe('The time that it may take.'),
});
export type RerunSetup = z.infer<typeof rerunSetup>;

/** How commands are run again, where it is not as usual. */
export const rerunSettings = z
  .object({
    commands: z
      .array(z.string())
      .readonly()
      .describe('Command lines that run tests, besides the check.'),
    testFiles: z.array(z.string()).readonly().describe('Globs of paths of tests.'),
    setup: rerunSetup,
    repeat: z.int().positive().describe('How often a reproduction is run on each tree.'),
    seconds: z.int().positive().describe('The time for each command.'),
  })
  .partial();
export type RerunSettings = z.infer<typeof rerunSettings>;

/** What the server found by running commands again, in fresh sandboxes without a network. */
export const rerunReport = z.object({
  image: z
    .object({ name: z.string(), id: z.string().describe('Changes with its content.') })
    .describe('The image of the sandboxes.'),
  claims: z.array(judgedClaim),
  settings: rerunSettings.optional().describe('Missing if all of them were as usual.'),
});
export type RerunReport = z.infer<typeof rerunReport>;
