import { randomUUID } from 'node:crypto';
import type { Plan, SessionUpdate, ToolCall, ToolCallUpdate } from '@agentclientprotocol/sdk';
import {
  AppError,
  calledOperation,
  describeCall,
  newEvent,
  oneLine,
  programCallPrefix,
  type Operation,
} from '@belay/protocol';
import type { SessionWriter } from '../../event-writer.js';
import type { OperationRunner } from '../../operation-runner.js';
import type { LiveReply } from '../live-reply.js';
import type { HeldToolCall } from './held-calls.js';
import {
  pathsToCommit,
  isTold,
  operationOf,
  reportedOutput,
  reported,
  reportedText,
  type ReportedCall,
} from './tool-call.js';

export interface RecorderOptions {
  /** The agent’s name. */
  agent: string;
  cwd: string;
  writer: Pick<SessionWriter, 'append'>;
  runner: Pick<OperationRunner, 'record'>;
  /** The call that the server has read from the program’s model and logged, if this is one. */
  heldCall(call: ReportedCall): HeldToolCall | undefined;
  /** Whether a call is one of Belay’s operations, which are logged where they run. */
  isOwnTool(report: ToolCallUpdate): boolean;
  /** Shows a part of a reply to viewers before it is complete. */
  live: Pick<LiveReply, 'show' | 'drop'>;
}

/** A call of the program that has no result yet. */
interface OngoingCall {
  report: ReportedCall;
  started: number;
  /** Its event in the log, once that is written. */
  logged?: { id: string; operation: Operation; input: Record<string, unknown> };
  /** Why it may not run. */
  refusal?: AppError;
}

/** A reply that is longer is written in parts. */
const maxSaid = 100_000;
/** The calls of a program that may be in progress at once; further ones are not recorded. */
const mostOngoing = 100;
/** The calls of one turn; further ones are not recorded. */
const mostCalls = 20_000;
const maxIdLength = 300;
/** After this time in milliseconds without more of a text, the program has passed on what it got from its model. */
const passingOnMs = 1_000;

/** Writes what a program reports of its turn to the log. */
export class TurnRecorder {
  readonly #options: RecorderOptions;
  readonly #ongoing = new Map<string, OngoingCall>();
  /** The ids of ended calls, whose late reports are ignored. */
  readonly #ended = new Set<string>();
  #text = '';
  #reasoning = '';
  #plan = '';
  #held: NodeJS.Timeout | undefined;
  /** The last text that the program said. */
  said = '';

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  update(update: SessionUpdate): void {
    if (update.sessionUpdate === 'agent_message_chunk') this.#say('text', textIn(update.content));
    else if (update.sessionUpdate === 'agent_thought_chunk')
      this.#say('reasoning', textIn(update.content));
    else if (update.sessionUpdate === 'plan') this.#planned(update);
    else if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update')
      this.#report(update);
  }

  /** The logged call that a report is about; undefined if too many are in progress. */
  begin(report: ToolCallUpdate): OngoingCall['logged'] {
    const call = this.#known(report);
    return call && this.#begin(call);
  }

  /** A call as far as the program has told it, with this report. */
  reported(report: ToolCallUpdate): ReportedCall {
    return this.#known(report)?.report ?? reported(undefined, report);
  }

  /** Notes that a call may not run, which its result then says. */
  refuse(toolCallId: string, refusal: AppError): void {
    const call = this.#ongoing.get(toolCallId);
    if (call) call.refusal = refusal;
  }

  /** Writes what is left of the turn; calls without a result get one that says why. */
  end(why: string): void {
    this.#flush();
    for (const [id, call] of this.#ongoing) {
      this.#begin(call);
      const output = (call.refusal ?? new AppError('cancelled', why)).toJSON();
      this.#writeResult(call, { ok: false, output });
      this.#ended.add(id);
    }
    this.#ongoing.clear();
  }

  #say(kind: 'text' | 'reasoning', text: string): void {
    if (!text) return;
    this.#options.live.show(kind, text);
    this.#held?.refresh();
    // A thought after a text begins another reply.
    if (kind === 'reasoning' && this.#text) this.#flush();
    for (let at = 0; at < text.length; at += maxSaid) {
      const part = text.slice(at, at + maxSaid);
      if (kind === 'text') this.#text += part;
      else this.#reasoning += part;
      if (this.#text.length + this.#reasoning.length > maxSaid) this.#flush();
    }
  }

  /** Writes what was said before a call that the server holds, as soon as the program has passed that on. */
  hold(tries = 2): void {
    clearTimeout(this.#held);
    this.#held = setTimeout(() => {
      if (this.#text || this.#reasoning || tries === 1) this.#flush();
      else this.hold(tries - 1);
    }, passingOnMs).unref();
  }

  #flush(): void {
    clearTimeout(this.#held);
    this.#held = undefined;
    const [text, reasoning] = [this.#text.trim(), this.#reasoning.trim()];
    this.#text = this.#reasoning = '';
    if (!text && !reasoning) return;
    this.#options.live.drop();
    if (text) this.said = text;
    const args = { text, calls: [], ...(reasoning && { reasoning }) };
    this.#options.writer.append(
      newEvent('agent', 'say', { args, message: oneLine(text) || 'Thought' }),
    );
  }

  #planned({ entries }: Plan): void {
    this.#flush();
    const lines = entries.map(
      ({ content, status }) => `- [${status === 'completed' ? 'x' : ' '}] ${oneLine(content)}`,
    );
    const markdown = lines.join('\n').slice(0, 100_000);
    if (markdown === this.#plan) return;
    this.#plan = markdown;
    this.#options.writer.append(
      newEvent('agent', 'plan', { args: { markdown }, message: 'Updated the plan.' }),
    );
  }

  #report(report: ToolCall | ToolCallUpdate): void {
    const call = this.#known(report);
    if (!call) return;
    if (!call.logged && this.#options.isOwnTool(call.report)) return this.#leave(call);
    const { status } = call.report;
    const isEnded = status === 'completed' || status === 'failed';
    // What a program has not told yet would be missing in the log for good.
    if (isEnded || isTold(call.report)) this.#begin(call);
    if (isEnded) this.#end(call);
  }

  #leave({ report: { toolCallId } }: OngoingCall): void {
    this.#flush();
    this.#ongoing.delete(toolCallId);
    this.#ended.add(toolCallId);
  }

  #known(report: ToolCall | ToolCallUpdate): OngoingCall | undefined {
    const { toolCallId } = report;
    if (toolCallId.length > maxIdLength || this.#ended.size > mostCalls) return undefined;
    if (this.#ended.has(toolCallId)) return undefined;
    const call = this.#ongoing.get(toolCallId) ?? {
      report: reported(undefined, report),
      started: performance.now(),
    };
    call.report = reported(call.report, report);
    if (this.#ongoing.size < mostOngoing) this.#ongoing.set(toolCallId, call);
    return this.#ongoing.get(toolCallId);
  }

  #begin(call: OngoingCall): OngoingCall['logged'] {
    if (call.logged) return call.logged;
    this.#flush();
    const { event, refusal } = this.#options.heldCall(call.report) ?? {};
    const known = event && calledOperation(event.action);
    if (event?.id !== undefined && known) {
      call.refusal ??= refusal;
      return (call.logged = { id: event.id, operation: known, input: event.args });
    }
    const { operation, input } = operationOf(this.#options.agent, call.report);
    const id = `${programCallPrefix}${randomUUID()}`;
    const title = oneLine(call.report.title ?? '');
    const message = title || describeCall(operation, input);
    this.#options.writer.append({
      source: 'agent',
      action: operation.name,
      args: input,
      message,
      id,
    });
    return (call.logged = { id, operation, input });
  }

  #end(call: OngoingCall): void {
    const { report, logged, refusal, started } = call;
    this.#ongoing.delete(report.toolCallId);
    this.#ended.add(report.toolCallId);
    if (!logged) return;
    const seconds = (performance.now() - started) / 1_000;
    const failed = report.status === 'failed';
    const isRun = logged.operation.display === 'command';
    if (refusal || (failed && !isRun)) {
      const error = refusal ?? new AppError('tool_failed', reportedText(report) || 'It failed.');
      this.#writeResult(call, { ok: false, output: error.toJSON() });
    } else {
      const output = reportedOutput(logged.operation, report, { seconds, cwd: this.#options.cwd });
      this.#writeResult(call, { ok: true, output });
    }
    if (refusal) return;
    const paths = pathsToCommit(logged, report);
    if (paths !== null) this.#options.runner.record(logged.id, logged, paths);
  }

  #writeResult(
    { logged, refusal, started, report }: OngoingCall,
    outcome: { ok: boolean; output: unknown },
  ): void {
    if (!logged) return;
    const seconds = (performance.now() - started) / 1_000;
    const args = { operation: logged.operation.name, seconds, ...outcome };
    const title = oneLine(report.title ?? '') || logged.operation.name;
    const end = outcome.ok ? 'done' : 'failed';
    const message = refusal ? refusal.message : `${title} ${end}`;
    this.#options.writer.append(newEvent('agent', 'result', { args, message, id: logged.id }));
  }
}

const textIn = (content: { type: string; text?: unknown }): string => {
  if (content.type === 'text' && typeof content.text === 'string') return content.text;
  return content.type === 'image' ? '[picture]' : '';
};
