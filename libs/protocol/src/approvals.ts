import { z } from 'zod';
import { risk } from './operation.js';

/** `ask`: wait for a person; `delay`: run after two seconds unless stopped; `auto`: run at once. */
export const approvalMode = z.enum(['ask', 'delay', 'auto']);
export type ApprovalMode = z.infer<typeof approvalMode>;

/** How long a call in mode `delay` is held back, in milliseconds (MyCodeInterpreter's semisafe). */
export const approvalDelay = 2_000;

/** A question that waits: may this call run? */
export const approvalRequest = z.object({
  id: z.string().describe('The call’s id, or the connection’s for a refused host.'),
  operation: z.string(),
  input: z.unknown(),
  risk,
  /** What rules match against: the command, the path, the host:port, the address. */
  subject: z.string(),
});
export type ApprovalRequest = z.infer<typeof approvalRequest>;

export const approvalVerdict = z.object({
  verdict: z.enum(['approved', 'rejected']),
  reason: z.string().optional().describe('What the model is told of a rejection.'),
});
export type ApprovalVerdict = z.infer<typeof approvalVerdict>;

const rulePattern = z
  .string()
  .min(1)
  .max(2_000)
  .describe('Glob over the subject: `*` is any text; npm test * or registry.npmjs.org:443.');

export const newRule = z.object({
  scope: z.enum(['session', 'workspace', 'all']).describe('Where it counts.'),
  session: z.string().optional().describe('The session, for the scopes session and workspace.'),
  operation: z
    .string()
    .max(300)
    .describe('An operation’s name, `egress`, or a glob such as files.*.'),
  pattern: rulePattern,
  verdict: z.enum(['approved', 'rejected']).default('approved'),
  expires: z.iso.datetime({ offset: true }).nullable().default(null),
});
export type NewRule = z.infer<typeof newRule>;

export const rule = newRule.extend({
  id: z.string(),
  created: z.iso.datetime({ offset: true }),
  uses: z.int().nonnegative(),
});
export type Rule = z.infer<typeof rule>;

/** A person’s answer to a question that waits. */
export const approvalAnswer = approvalVerdict.extend({
  remember: newRule.omit({ session: true, verdict: true }).optional(),
});
export type ApprovalAnswer = z.infer<typeof approvalAnswer>;

/** What a rule would have decided on past calls. */
export const rulePreview = z.object({
  matches: z.int().nonnegative(),
  examples: z.array(z.object({ session: z.string(), seq: z.int(), subject: z.string() })),
});
export type RulePreview = z.infer<typeof rulePreview>;
