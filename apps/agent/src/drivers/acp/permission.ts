import type {
  PermissionOptionKind,
  RequestPermissionRequest,
  RequestPermissionResponse,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import { AppError, needsDecision, rejectionOf } from '@belay/protocol';
import { z } from 'zod';
import type { DriverOptions } from '../agent-driver.js';
import type { UserQuestions } from '../user-questions.js';
import type { HeldToolCall } from './held-calls.js';
import type { ReportedCall } from './tool-call.js';
import type { TurnRecorder } from './turn-recorder.js';

export interface PermissionOptions extends Pick<DriverOptions, 'connection' | 'log' | 'writer'> {
  recorder: TurnRecorder;
  questions: UserQuestions;
  /** Whether a call is one of Belay’s operations, which is approved where it runs. */
  isOwnTool(call: ToolCallUpdate): boolean;
  /** The call that the server held on its way from the model, if this is one. */
  heldCall(call: ReportedCall): HeldToolCall | undefined;
  /** Aborted when the turn is cancelled. */
  signal: AbortSignal;
}

export const cancelledPermission: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } };

/**
 * Decides whether a program’s call may run. A call that the server held has its verdict; any other one becomes an
 * approval. Nothing is ever allowed for more than one call: that is what Belay’s rules are for. Never rejects: without
 * a decision, the call may not run.
 */
export async function decidePermission(
  request: RequestPermissionRequest,
  options: PermissionOptions,
): Promise<RequestPermissionResponse> {
  const { toolCall } = request;
  try {
    options.signal.throwIfAborted();
    if (toolCall.kind === 'switch_mode') return await chosen(request, options);
    const asked = questionsIn(toolCall._meta);
    if (asked.length > 0) return await answered(request, asked, options);
    if (options.isOwnTool(toolCall)) return selected(request, 'allow_once');
    const held = options.heldCall(options.recorder.reported(toolCall));
    if (held) {
      const mayRun = !held.refusal || held.isReplaced;
      return selected(request, mayRun ? 'allow_once' : 'reject_once');
    }
    await approved(request, options);
    return selected(request, 'allow_once');
  } catch (thrown) {
    if (options.signal.aborted) return cancelledPermission;
    const refusal =
      thrown instanceof AppError ? thrown : new AppError('rejected', 'It could not be approved.');
    options.recorder.refuse(toolCall.toolCallId, refusal);
    return selected(request, 'reject_once');
  }
}

/** Throws `rejected` with the reason. */
async function approved(
  { toolCall }: RequestPermissionRequest,
  { connection, log, writer, recorder, signal }: PermissionOptions,
): Promise<void> {
  const call = recorder.begin(toolCall);
  if (!call) throw new AppError('rejected', 'Too many calls are in progress.');
  if (!needsDecision(call.operation, log.conversation.approvals)) return;
  // The server decides on the call in the log, so it must be stored first.
  await writer.flush();
  const decision = await connection.call('approvals.request', { id: call.id }, { signal });
  if (decision.verdict === 'rejected') throw rejectionOf(decision);
  while (log.conversation.paused) await log.changed(signal);
}

/** A question with answers of the program’s own, such as how to go on after a plan. */
async function chosen(
  { toolCall, options }: RequestPermissionRequest,
  { questions, signal }: PermissionOptions,
): Promise<RequestPermissionResponse> {
  const offered = options.filter(({ kind }) => kind !== 'reject_always');
  const question = toolCall.title ?? 'How should the agent go on?';
  const answer = await questions.ask(
    { question, options: offered.map(({ name }) => name) },
    signal,
  );
  const option =
    offered.find(({ name }) => name === answer.trim()) ??
    offered.find(({ kind }) => kind === 'reject_once');
  return option
    ? { outcome: { outcome: 'selected', optionId: option.optionId } }
    : cancelledPermission;
}

const questions = z.object({
  qwenQuestions: z
    .array(
      z.object({
        question: z.string(),
        options: z.array(z.object({ label: z.string() })).default([]),
      }),
    )
    .max(20),
});
type Asked = z.infer<typeof questions>['qwenQuestions'];

/** The questions to the user that a program asks as the permission for a call. */
const questionsIn = (meta: unknown): Asked => questions.safeParse(meta).data?.qwenQuestions ?? [];

/** Adds the answers by the numbers of their questions, as that program reads them. */
async function answered(
  request: RequestPermissionRequest,
  asked: Asked,
  options: PermissionOptions,
): Promise<RequestPermissionResponse> {
  const answers: Record<string, string> = {};
  for (const [index, { question, options: offered }] of asked.entries()) {
    const given = { question, options: offered.map(({ label }) => label) };
    answers[index] = await options.questions.ask(given, options.signal);
  }
  return { ...selected(request, 'allow_once'), answers } as RequestPermissionResponse;
}

function selected(
  { options }: RequestPermissionRequest,
  wanted: PermissionOptionKind,
): RequestPermissionResponse {
  const option = options.find(({ kind }) => kind === wanted);
  return option
    ? { outcome: { outcome: 'selected', optionId: option.optionId } }
    : cancelledPermission;
}
