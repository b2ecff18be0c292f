import {
  alwaysAnswer,
  AppError,
  calledOperation,
  requestedCall,
  type ApprovalAnswer,
  type ApprovalRequest,
  type SessionSummary,
} from '@belay/protocol';
import { clientFor, findSession, type PrintOptions } from '../connection.js';
import { headLines, outputTo, singleLine, type LineOutput } from '../output.js';

export interface ApproveOptions extends PrintOptions {
  all?: boolean;
  always?: boolean;
  /** True for a rejection without a reason. */
  reject?: string | true;
}

/** Lines of a command in the list; `attach` and the dashboard show more. */
const maxLines = 40;

interface Open {
  session: string;
  request: ApprovalRequest;
}

/** `belay approve`: lists the open questions of all sessions or of one, or answers one or all of a session. */
export async function approve(
  name: string | undefined,
  call: string | undefined,
  options: ApproveOptions,
): Promise<void> {
  const client = clientFor(options);
  const answers =
    call !== undefined ||
    options.all === true ||
    options.always === true ||
    options.reject !== undefined;
  const sessions = name ? [await findSession(client, name)] : await client.sessions.list();
  if (options.all && !name)
    throw new AppError('invalid_input', '--all needs a session: belay approve SESSION --all');
  const output = outputTo(process.stdout);
  if (!answers) return list(sessions, output, options.json ?? false);
  const chosen = chosenFrom(openIn(sessions), { call, all: options.all });
  const verdicts: { session: string; call: string; verdict: string }[] = [];
  for (const { session, request } of chosen) {
    const answer = answerTo(request, options);
    await client.sessions.answer(session, request.id, answer);
    verdicts.push({ session, call: request.id, verdict: answer.verdict });
    if (!options.json)
      output.line(singleLine(`${answer.verdict}: ${request.operation} (${request.id})`, Infinity));
  }
  if (options.json) output.json(verdicts);
}

const openIn = (sessions: SessionSummary[]): Open[] =>
  sessions.flatMap(({ id, waitingFor }) => waitingFor.map((request) => ({ session: id, request })));

/** The approval with this id or the beginning of it; without one, the only approval, or with `all` each of them. */
export function chosenFrom(
  open: readonly Open[],
  { call, all = false }: { call?: string | undefined; all?: boolean | undefined },
): readonly Open[] {
  if (open.length === 0) throw new AppError('not_found', 'No calls are waiting for approval.');
  if (call === undefined) {
    if (all || open.length === 1) return open;
    throw new AppError(
      'invalid_input',
      `${open.length} calls are waiting for approval: name one by its id, or use --all with a session. List them with: belay approve`,
    );
  }
  const exact = open.filter(({ request }) => request.id === call);
  const chosen =
    exact.length > 0 ? exact : open.filter(({ request }) => request.id.startsWith(call));
  if (chosen.length === 1) return chosen;
  throw new AppError(
    chosen.length > 0 ? 'invalid_input' : 'not_found',
    chosen.length > 0
      ? `${chosen.length} approvals match ${call}. Type more of the id.`
      : `There is no pending approval ${call}. List them with: belay approve`,
  );
}

function answerTo(request: ApprovalRequest, { reject, always }: ApproveOptions): ApprovalAnswer {
  if (reject !== undefined)
    return { verdict: 'rejected', reason: reject === true ? 'The user said no.' : reject };
  return always ? alwaysAnswer(request) : { verdict: 'approved' };
}

function list(sessions: SessionSummary[], output: LineOutput, json: boolean): void {
  const waiting = sessions.filter(
    ({ waitingFor, question }) => waitingFor.length > 0 || question !== null,
  );
  if (json)
    return output.json(
      waiting.map(({ id, waitingFor, question }) => ({ session: id, waitingFor, question })),
    );
  if (waiting.length === 0) return output.line('Nothing is waiting for you.');
  for (const { id, title, waitingFor, question } of waiting) {
    output.line(output.style('bold', `${id}  ${singleLine(title, Infinity)}`));
    for (const request of waitingFor) printRequest(request, output);
    if (question !== null) {
      output.line(`  ? ${singleLine(question, Infinity)}`);
      output.line(`    belay say ${id} "ANSWER"`);
    }
  }
}

/** Lines are never shortened, and omitted ones are counted: the user must see what is approved. */
function printRequest(request: ApprovalRequest, output: LineOutput): void {
  const { id, operation, risk } = request;
  const what = calledOperation(operation) ? operation : `${operation} (a connection)`;
  output.line(`  ${singleLine(`${id}  ${what}`, Infinity)} · ${risk}`);
  for (const line of headLines(requestedCall(request), maxLines, Infinity))
    output.line(`    ${line}`);
}
