import { z } from 'zod';
import { AppError } from './errors.js';
import { risk, type Operation } from './operation.js';

export const approvalMode = z.enum(['safe', 'ask', 'delay', 'auto']);
export type ApprovalMode = z.infer<typeof approvalMode>;

/** How long a call in mode `delay` is held back, in milliseconds (MyCodeInterpreter’s semisafe). */
export const approvalDelayMs = 2_000;

const delay = `${approvalDelayMs / 1_000} s`;

interface ModeWords {
  /** As a choice. */
  label: string;
  /** Where there is little space. */
  short: string;
  /** What a session with it does. */
  does: string;
}

/** The approval modes in words. `safe` asks before reads and edits, too. */
export const approvalModes: Readonly<Record<ApprovalMode, ModeWords>> = {
  safe: {
    label: 'Ask before every action',
    short: 'Ask always',
    does: 'asks before every action',
  },
  ask: {
    label: 'Ask before commands and network',
    short: 'Ask',
    does: 'asks before commands',
  },
  delay: {
    label: `Run after ${delay} unless stopped`,
    short: `After ${delay}`,
    does: `waits ${delay}`,
  },
  auto: { label: 'Run at once', short: 'At once', does: 'never asks' },
};

/** Whether a call of the model needs a decision of the server: all that touches something does in the mode `safe`. */
export const needsDecision = (
  { risk: how, idle, servedBy }: Pick<Operation, 'risk' | 'idle' | 'servedBy'>,
  mode: ApprovalMode,
): boolean =>
  how === 'execute' || how === 'network' || (mode === 'safe' && !idle && servedBy === 'agent');

/** A question that waits: may this call run? */
export const approvalRequest = z.object({
  id: z.string().describe('The call’s id, or the connection’s for a refused host.'),
  operation: z.string(),
  input: z.unknown(),
  risk,
  /** What rules match against: the command, the path, the host:port, the address. */
  subject: z.string(),
  about: z.string().optional().describe('What an installed action may do, in words.'),
});
export type ApprovalRequest = z.infer<typeof approvalRequest>;

export const approvalVerdict = z.object({
  verdict: z.enum(['approved', 'rejected']),
  reason: z.string().optional().describe('What the model is told of a rejection.'),
  by: z
    .enum(['rule', 'server'])
    .optional()
    .describe('Who rejected it when it was not the user: the server after the session’s end.'),
});
export type ApprovalVerdict = z.infer<typeof approvalVerdict>;

/** What the model is told of a rejected call. */
export function rejectionOf({ by, reason }: ApprovalVerdict): AppError {
  const because = reason ? `: ${reason}` : '.';
  if (by === 'rule') {
    const sentence = 'A rule rejects such calls. Find another way, or ask the user to change it.';
    return new AppError('rejected', sentence);
  }
  const who = by ? 'This was not allowed' : 'The user did not allow this';
  return new AppError('rejected', `${who}${because}`);
}

const rulePattern = z
  .string()
  .max(2_000)
  .regex(/\S/, 'a blank pattern matches nothing: use * for everything')
  .describe(
    'Glob over the subject: `*` is any text, `\\*` a star; npm test * or registry.npmjs.org:443; for egress also a set of hosts such as @npm.',
  );

export const newRule = z.object({
  scope: z.enum(['session', 'workspace', 'all']).describe('Where it applies.'),
  session: z.string().optional().describe('The session, for the scopes session and workspace.'),
  operation: z
    .string()
    .max(300)
    .regex(/\S/, 'name an operation, egress, or a glob such as files.*')
    .describe('An operation’s name, `egress`, or a glob such as files.*.'),
  pattern: rulePattern,
  verdict: z.enum(['approved', 'rejected']).default('approved'),
  expires: z.iso.datetime({ offset: true }).nullable().default(null),
});
export type NewRule = z.infer<typeof newRule>;

export const rule = newRule.extend({
  id: z.string(),
  // What an older version stored is shown all the same.
  operation: z.string(),
  pattern: z.string(),
  created: z.iso.datetime({ offset: true }),
  uses: z.int().nonnegative(),
});
export type Rule = z.infer<typeof rule>;

/** The user’s answer to a question that waits. */
export const approvalAnswer = approvalVerdict.omit({ by: true }).extend({
  remember: newRule.omit({ session: true, verdict: true }).optional(),
});
export type ApprovalAnswer = z.infer<typeof approvalAnswer>;

/** What a rule would have decided on past calls. */
export const rulePreview = z.object({
  matches: z.int().nonnegative(),
  examples: z.array(z.object({ session: z.string(), seq: z.int(), subject: z.string() })),
});
export type RulePreview = z.infer<typeof rulePreview>;
