import { sessionSummary, type SessionSummary } from '@belay/protocol';
import type { ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

/** A session’s question that an MCP client can ask its user. */
export interface Elicitation {
  /** Identifies the question, so that nobody is asked twice. */
  key: string;
  params: ElicitRequestFormParams;
  /** The command for the user’s answer; undefined when there was none. */
  commandFor(result: ElicitResult): { name: string; input: object } | undefined;
}

const decided = z.object({
  decision: z.enum(['approve', 'reject', 'later']),
  reason: z.string().optional(),
});
const answered = z.object({ answer: z.string().min(1) });
/** Forms are short, so they show only this many characters. */
const maxShown = 4_000;

/** The open question in the summary that a wait returned. */
export function elicitationFor(result: unknown): Elicitation | undefined {
  const { data } = z.object({ session: sessionSummary }).safeParse(result);
  if (!data) return undefined;
  return approvalOf(data.session) ?? questionOf(data.session);
}

function approvalOf({ id: session, waitingFor }: SessionSummary): Elicitation | undefined {
  const [request] = waitingFor;
  if (!request) return undefined;
  const { id, operation, subject, risk } = request;
  const choices = ['approve', 'reject', 'later'];
  return {
    key: id,
    params: {
      mode: 'form',
      message: `May this run in session ${session}? ${operation} (${risk})\n${subject.slice(0, maxShown)}`,
      requestedSchema: {
        type: 'object',
        properties: {
          decision: { type: 'string', title: 'Decision', enum: choices },
          reason: {
            type: 'string',
            title: 'Reason',
            description: 'What the agent is told if you reject.',
          },
        },
        required: ['decision'],
      },
    },
    commandFor({ action, content }) {
      if (action === 'decline') return answer('rejected');
      const { data } = decided.safeParse(content);
      if (action !== 'accept' || !data || data.decision === 'later') return undefined;
      return answer(data.decision === 'approve' ? 'approved' : 'rejected', data.reason);
    },
  };
  function answer(verdict: 'approved' | 'rejected', reason?: string) {
    return { name: 'answer', input: { session, id, verdict, ...(reason && { reason }) } };
  }
}

function questionOf({
  id: session,
  question,
  options,
  lastSeq,
}: SessionSummary): Elicitation | undefined {
  if (question === null) return undefined;
  const choice = options.length > 0 ? { description: `For example: ${options.join(' · ')}` } : {};
  return {
    key: `${session} ${lastSeq}`,
    params: {
      mode: 'form',
      message: question.slice(0, maxShown),
      requestedSchema: {
        type: 'object',
        properties: { answer: { type: 'string', title: 'Answer', ...choice } },
        required: ['answer'],
      },
    },
    commandFor({ action, content }) {
      const { data } = answered.safeParse(content);
      return action === 'accept' && data
        ? { name: 'message', input: { session, text: data.answer, delivery: 'steer' } }
        : undefined;
    },
  };
}
