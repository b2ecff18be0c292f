import { AppError, type Risk } from '@belay/protocol';
import type { ApprovalService } from '../../approvals/approval.service.js';
import type { EventLog } from '../../logs/event-log.js';

interface HostedToolsOf {
  log: EventLog;
  approvals: ApprovalService;
  session: string;
}

/**
 * Throws `forbidden` unless these tools are allowed. They run at the provider, which neither the egress policy nor the
 * approval of a call holds, so they need both: a session with a network, and a rule or mode that allows such calls
 * without a question.
 */
export async function assertHostedTools(
  { log, approvals, session }: HostedToolsOf,
  tools: readonly string[],
): Promise<void> {
  if (tools.length === 0) return;
  const { egress } = await log.settings(session);
  for (const tool of new Set(tools)) {
    const verdict =
      egress.profile === 'none' ? undefined : await approvals.withoutAsking(session, request(tool));
    if (verdict?.verdict === 'approved') continue;
    throw new AppError(
      'forbidden',
      `The tool ${tool.slice(0, 100)} runs at the provider. It needs a session with a network and a rule that allows ${operationOf(tool)}; or remove it from the request.`,
    );
  }
}

const operationOf = (tool: string): string =>
  /search/i.test(tool) ? 'web.search' : `tool.hosted.${tool}`;

const request = (tool: string) => ({
  id: 'hosted',
  operation: operationOf(tool),
  input: { query: '' },
  risk: 'execute' as Risk,
  subject: '',
});
