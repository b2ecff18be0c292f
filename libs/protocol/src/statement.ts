import { z } from 'zod';
import { automationEvent, forgeUser } from './automations/automation-events.js';
import { sha256Digest } from './proof.js';
import { rerunReport } from './reruns.js';

/** The type of a statement’s text, as its envelope names it. */
export const statementMediaType = 'application/vnd.in-toto+json';
export const statementType = 'https://in-toto.io/Statement/v1';
/** What the predicate means: docs/proof.md. */
export const agentChangeType = 'urn:belay:attestation:agent-change:v1';

const digest = z.object({ sha256: sha256Digest });
const gitId = z.string().regex(/^[0-9a-f]{40}$/, 'the whole id of a git object');
const commit = z.object({ gitCommit: gitId });
const count = z.int().nonnegative();

const budget = z.object({ limit: count.nullable().describe('Null for none.'), used: count });

/** The longest lists in a statement; their whole numbers stand beside them. */
export const mostInStatement = 100;

/** What the log itself says, in rows that no agent wrote. */
export const logObservations = z.object({
  agentRows: count.describe('Events that an agent wrote.'),
  serverRows: count.describe('Events that the server or a user wrote.'),
  origin: z
    .object({ session: z.string().nullable(), seq: count })
    .nullable()
    .describe('The session that this one continues, and how much of the log was copied from it.'),
  task: digest,
  agent: z.object({
    name: z.string(),
    version: z.string().nullable().describe('Null for Belay’s own, which has that of the server.'),
    image: z.string().nullable().describe('Null for the server’s own image.'),
    profile: z.string(),
    machine: z
      .string()
      .nullable()
      .describe('The joined machine that its sandbox is on; null for one of the server’s own.'),
  }),
  budgets: z
    .object({ steps: budget, tokens: budget, microdollars: budget, seconds: budget })
    .describe('As the server counts them: dollars of calls with a known price, wall time.'),
  models: z.array(
    z.object({
      name: z.string(),
      calls: count,
      inputTokens: count,
      outputTokens: count,
      microdollars: count.nullable().describe('Null if the price of a call is unknown.'),
    }),
  ),
  approvals: z.object({
    mode: z.string(),
    asked: count,
    approved: count,
    rejected: count,
    decisions: z
      .array(
        z.object({
          call: z.string(),
          operation: z.string(),
          subject: digest,
          verdict: z.enum(['approved', 'rejected']),
          by: z.string().describe('A caller such as `user:ID`, or `user`, `rule` or `server`.'),
          rule: z.string().nullable(),
          at: z.string(),
        }),
      )
      .max(mostInStatement)
      .describe('The latest ones.'),
  }),
  egress: z.object({
    profile: z.string(),
    hosts: z
      .array(z.string())
      .max(mostInStatement)
      .describe('Those that were reached, in the order of the alphabet.'),
    allowed: count,
    refused: count,
  }),
});
export type LogObservations = z.infer<typeof logObservations>;

/** The run of an automation that published a change, as the server decided it. */
export const statedAutomation = z.object({
  name: z.string(),
  version: z.int().positive().describe('The version of the definition that the run kept.'),
  run: z.string(),
  event: automationEvent.describe('What the run began with.'),
  actor: forgeUser
    .pick({ id: true, name: true })
    .nullable()
    .describe('Who did that, as the git host says; null where no user did.'),
});
export type StatedAutomation = z.infer<typeof statedAutomation>;

/** What is said about a change before its commit exists: the commit names the digest of this. */
export const changeRecord = z.object({
  version: z.literal(1),
  server: z.string().nullable().describe('The public address of the server.'),
  belay: z.string().describe('The version of the server.'),
  made: z.iso.datetime().describe('When the record was made.'),
  change: z.object({
    repository: z.string(),
    branch: z.string(),
    base: commit.describe('The commit that the session began from.'),
    parent: commit,
    tree: z.object({ gitTree: gitId }),
    changes: digest.describe('Of `git diff-tree -r -z --no-abbrev --no-renames PARENT TREE`.'),
    files: count,
    ciFiles: z.array(z.string()).max(mostInStatement),
  }),
  session: z.object({ id: z.string(), created: z.string() }),
  log: z.object({
    algorithm: z.string(),
    seq: count,
    head: sha256Digest,
    chainedFrom: z.int().positive(),
  }),
  image: z
    .object({ name: z.string(), id: z.string().nullable() })
    .describe(
      'The image of the session’s sandbox, and what the name stood for on the server when the record was made: it changes with the content. Null if that is not known, as of a joined machine.',
    ),
  observed: logObservations,
  reruns: rerunReport.nullable().describe('What the server ran again; null if nothing was asked.'),
  trace: digest
    .optional()
    .describe('Of the trace of its lines, without the commit; missing if none could be made.'),
  automation: statedAutomation.optional().describe('Missing where no automation published.'),
});
export type ChangeRecord = z.infer<typeof changeRecord>;

const subject = z.tuple([
  z.object({ name: z.string(), digest: commit }),
  z.object({ name: z.literal('tree'), digest: z.object({ gitTree: gitId }) }),
]);

/** An in-toto Statement about one commit. */
export const changeStatement = z.object({
  _type: z.literal(statementType),
  subject,
  predicateType: z.literal(agentChangeType),
  predicate: changeRecord.extend({ record: digest.describe('Of all the other fields.') }),
});
export type ChangeStatement = z.infer<typeof changeStatement>;

/** The standard predicate of in-toto for results of tests. */
export const testResultType = 'https://in-toto.io/attestation/test-result/v0.1';
const testNames = z.array(z.string());

/** The same reruns as in a statement about a change, for tools that know only the standard predicate. */
export const testResultStatement = z.object({
  _type: z.literal(statementType),
  subject,
  predicateType: z.literal(testResultType),
  predicate: z.object({
    result: z
      .enum(['PASSED', 'WARNED', 'FAILED'])
      .describe('`FAILED` if a claim is refuted, else `WARNED` if one is inconclusive.'),
    configuration: z
      .array(z.object({ name: z.string(), digest: z.record(z.string(), z.string()) }))
      .describe('The record of the change, and the image of the sandboxes.'),
    passedTests: testNames,
    warnedTests: testNames,
    failedTests: testNames,
  }),
});
export type TestResultStatement = z.infer<typeof testResultStatement>;

/** The lines of a commit’s message that lead to its session and to the record about it. */
export const sessionTrailer = 'Belay-Session';
export const evidenceTrailer = 'Belay-Evidence';
