import { z } from 'zod';
import { AppError } from './errors.js';
import { risk, type Operation } from './operation.js';
import { exactPattern } from './rule-pattern.js';

export const approvalMode = z.enum(['plan', 'safe', 'ask', 'delay', 'rules', 'auto']);
export type ApprovalMode = z.infer<typeof approvalMode>;

/** The delay of a call in mode `delay`, in milliseconds (MyCodeInterpreter’s semisafe). */
export const approvalDelayMs = 2_000;

const delay = `${approvalDelayMs / 1_000} s`;

interface ModeWords {
  /** For a list of choices. */
  label: string;
  /** For small spaces. */
  short: string;
  /** The behavior of a session in this mode. */
  does: string;
}

/** The labels of the approval modes. In `plan`, only reads run; `safe` also asks before reads and edits; `rules` is for
 * sessions that nobody watches. */
export const approvalModes: Readonly<Record<ApprovalMode, ModeWords>> = {
  plan: {
    label: 'Plan first, change nothing until then',
    short: 'Plan first',
    does: 'plans first',
  },
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
  rules: {
    label: 'Run only what a rule allows, ask nobody',
    short: 'Rules only',
    does: 'runs only what a rule allows',
  },
  auto: { label: 'Run at once', short: 'At once', does: 'never asks' },
};

/**
 * Whether a model’s call needs a decision from the server: in `plan`, every call that changes something does; in
 * `safe`, also every call that reads.
 */
export const needsDecision = (
  { risk: how, idle, servedBy }: Pick<Operation, 'risk' | 'idle' | 'servedBy'>,
  mode: ApprovalMode,
): boolean =>
  how === 'execute' ||
  how === 'network' ||
  (mode === 'plan' && how === 'write') ||
  (mode === 'safe' && !idle && servedBy === 'agent');

/** A pending question: may this call run? */
export const approvalRequest = z.object({
  id: z.string().describe('The id of the call, or for a refused host that of the connection.'),
  operation: z.string(),
  input: z.unknown(),
  risk,
  /** The text that rules match: the command, the path, the host:port or the address. */
  subject: z.string(),
  about: z.string().optional().describe('The permissions of an installed action, in words.'),
  fixed: z
    .boolean()
    .optional()
    .describe('Whether the call cannot be changed, because an agent’s own program runs it.'),
});
export type ApprovalRequest = z.infer<typeof approvalRequest>;

/** Fields of a call’s input that the user changed before allowing it. */
const editedFields = z.record(z.string().max(100), z.string().max(200_000));

export const approvalVerdict = z.object({
  verdict: z.enum(['approved', 'rejected']),
  reason: z.string().optional().describe('The reason that the model is told for a rejection.'),
  by: z
    .enum(['rule', 'server'])
    .optional()
    .describe(
      'Who rejected the call if not the user: a rule, or the server after the end of the session.',
    ),
  edited: editedFields
    .optional()
    .describe('What the user changed before allowing the call; the model is told what ran.'),
});
export type ApprovalVerdict = z.infer<typeof approvalVerdict>;

/** Who decided on a call. */
export const decider = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('caller'),
    id: z.string().describe('`owner`, `token:ID` or `user:ID`.'),
    label: z.string().describe('The name of the user, or the label of the token.'),
  }),
  z.object({ kind: z.literal('rule'), rule: z.string() }),
  z.object({ kind: z.literal('mode'), mode: approvalMode }),
  z
    .object({ kind: z.literal('server') })
    .describe('An earlier answer to an equal call, or the withdrawal of the call.'),
]);
export type Decider = z.infer<typeof decider>;

/** The verdict on a call that was rejected, from its event. */
export const rejectionBy = ({
  reason,
  by,
}: {
  reason: string;
  by?: Decider | undefined;
}): ApprovalVerdict => ({
  verdict: 'rejected',
  ...(reason && { reason }),
  ...(by && by.kind !== 'caller' && { by: by.kind === 'rule' ? 'rule' : 'server' }),
});

/** The error that the model gets for a rejected call. */
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
    'A glob for the subject: `*` matches any text, `\\*` a star; for example npm test * or registry.npmjs.org:443; for egress also a set of hosts such as @npm.',
  );

export const newRule = z.object({
  scope: z.enum(['session', 'workspace', 'all']).describe('The sessions that the rule applies to.'),
  session: z.string().optional().describe('The session, for the scopes `session` and `workspace`.'),
  operation: z
    .string()
    .max(300)
    .regex(/\S/, 'name an operation, egress, or a glob such as files.*')
    .describe('The name of an operation, `egress`, or a glob such as files.*.'),
  pattern: rulePattern,
  verdict: z.enum(['approved', 'rejected']).default('approved'),
  expires: z.iso.datetime({ offset: true }).nullable().default(null),
});
export type NewRule = z.infer<typeof newRule>;

export const rule = newRule.extend({
  id: z.string(),
  // Rules that an older version stored are shown, even if they are no longer valid.
  operation: z.string(),
  pattern: z.string(),
  created: z.iso.datetime({ offset: true }),
  uses: z.int().nonnegative(),
});
export type Rule = z.infer<typeof rule>;

/** The user’s answer to a pending question. */
export const approvalAnswer = approvalVerdict.omit({ by: true }).extend({
  remember: newRule.omit({ session: true, verdict: true }).optional(),
});
export type ApprovalAnswer = z.infer<typeof approvalAnswer>;

/** Approves a call, and equal calls in this session from now on. */
export const alwaysAnswer = ({
  operation,
  subject,
}: Pick<ApprovalRequest, 'operation' | 'subject'>): ApprovalAnswer =>
  rememberedAnswer(exactPattern(operation), exactPattern(subject));

/** Approves a call, and all calls in this session that match these patterns from now on. */
export const rememberedAnswer = (operation: string, pattern: string): ApprovalAnswer => ({
  verdict: 'approved',
  remember: { scope: 'session', operation, pattern, expires: null },
});

/** The past calls that a rule would have decided. */
export const rulePreview = z.object({
  matches: z.int().nonnegative(),
  examples: z.array(z.object({ session: z.string(), seq: z.int(), subject: z.string() })),
});
export type RulePreview = z.infer<typeof rulePreview>;
