import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  AppError,
  describeCall,
  errorFrom,
  excerpt,
  jsonFault,
  hostQuestionPrefix,
  ignoreError,
  isCall,
  isEnded,
  NewestMap,
  rejectionOf,
  userCallPrefix,
  type ApprovalVerdict,
  type NewEvent,
  type SessionSummary,
} from '@belay/protocol';
import { ApprovalService } from '../approvals/approval.service.js';
import { verdictEvent } from '../approvals/verdict-event.js';
import { refuseUsedIds } from '../logs/call-ids.js';
import { EventLog } from '../logs/event-log.js';
import { SessionsStore } from '../logs/sessions.store.js';
import type { CallJudge, JudgedReply, PingKind } from '../models/wire/call-judge.js';
import { readObject } from '../models/wire/request-body.js';
import type { Refusal, HeldCall } from '../models/wire/held-call.js';
import type { AgentEntry } from './agent-entry.js';
import { KeptVerdicts } from './kept-verdicts.js';
import { mappedCall, type MappedCall } from './mapped-call.js';
import { SessionAgents } from './session-agents.js';

type Tools = Pick<AgentEntry, 'name' | 'ping' | 'tools' | 'belayTools' | 'standIn'>;

/** From this refusal of an equal call on, the program is told not to repeat it. */
const repeatedTimes = 3;
/** From this one on, the model’s turn ends. */
const lastTimes = 6;
/** Equal calls are counted in this many sessions. */
const maxCounted = 500;

/**
 * Decides on the calls of other vendors’ programs, which the gateway reads in the replies of their model: a call is an
 * event of the log, and the rules, the mode or the user of its session decide on it as on those of Belay’s own agent.
 */
@Injectable()
export class WireCalls implements CallJudge {
  /** How often calls were refused, by session and by what they do. */
  readonly #refused = new NewestMap<string, Map<string, number>>(maxCounted);
  readonly #kept = new KeptVerdicts();

  constructor(
    private readonly log: EventLog,
    private readonly store: SessionsStore,
    private readonly approvals: ApprovalService,
    private readonly agents: SessionAgents,
  ) {}

  /** Programs whose replies ended with the session’s earlier server ask again, under new ids. */
  async rejectOpen({ id: session, waitingFor }: SessionSummary): Promise<void> {
    const reason = 'The server was restarted meanwhile.';
    for (const { id } of waitingFor)
      if (await this.#isOfProgram(session, id))
        await this.#record(session, id, { verdict: 'rejected', reason }).catch(
          ignoreError('the question stays until its session ends'),
        );
  }

  async pingOf({ session }: { session: string }): Promise<PingKind | undefined> {
    return (await this.#tools(session))?.ping;
  }

  async decide(
    reply: JudgedReply,
    call: HeldCall,
  ): Promise<{ id: string; refusal: Refusal | null }> {
    const tools = await this.#tools(reply.session);
    const id = call.id || `wire-${randomUUID()}`;
    const input = readObject(call.input || '{}');
    if (!input || jsonFault(input) !== undefined)
      return { id, refusal: refusalOf(call.name, 'It cannot be read.', { tools, reply }) };
    const mapped = mappedCall(tools ?? ofPrograms, call.name, input);
    const fault = await this.#begin(reply.session, id, { mapped, isLogged: tools !== undefined });
    const about = mapped.subject || call.name;
    if (fault) return { id, refusal: refusalOf(about, fault, { tools, reply }) };
    if (mapped.isIdle) return { id, refusal: null };
    const verdict = await this.#verdict(reply, { call, id, mapped });
    if (verdict.verdict === 'approved') return { id, refusal: null };
    const times = this.#countRefusal(reply.session, mapped);
    const again = times >= repeatedTimes ? ' Do not call this again.' : '';
    const { message } = rejectionOf(verdict);
    const reason = (/[.!?]$/.test(message) ? message : `${message}.`) + again;
    return { id, refusal: refusalOf(about, reason, { tools, reply, isLast: times >= lastTimes }) };
  }

  delivered({ session }: JudgedReply): void {
    this.#kept.clear(session);
  }

  brokeOff(reply: JudgedReply, calls: readonly string[]): void {
    this.#kept.keep(reply, calls);
  }

  /** Whether a question is about a call that an earlier server has read in a reply. */
  async #isOfProgram(session: string, id: string): Promise<boolean> {
    if (id.startsWith(hostQuestionPrefix) || id.startsWith(userCallPrefix)) return false;
    const { events } = await this.store.ofCall(session, id);
    const isEarlier = events.every(({ seq }) => this.log.isEarlier(session, seq));
    return (
      isEarlier && events.every(({ action, source }) => !isCall(action) || source === 'server')
    );
  }

  /** Undefined for the programs of a session that Belay’s own agent works on. */
  async #tools(session: string): Promise<Tools | undefined> {
    const { agent } = await this.log.settings(session);
    if (!agent || agent.protocol === 'own') return undefined;
    return this.agents.entry(agent.name) ?? { ...ofPrograms, name: agent.name };
  }

  /**
   * Logs the call, for a program that the session’s agent is: results then follow. Resolves with the reason why its id
   * cannot be used.
   */
  async #begin(
    session: string,
    id: string,
    { mapped, isLogged }: { mapped: MappedCall; isLogged: boolean },
  ): Promise<string | undefined> {
    const { operation, input } = mapped;
    const event: NewEvent = {
      source: 'server',
      action: operation.name,
      args: input,
      message: describeCall(operation, input),
      id,
    };
    const append = () =>
      this.log.append(session, async (_summary, _settings, connection) => {
        if (id.startsWith(userCallPrefix) || id.length > 200)
          throw new AppError('forbidden', `${excerpt(id, 100)} cannot be the id of a call.`);
        refuseUsedIds([id], await this.store.calledIds(connection, session, [id]));
        return isLogged ? [event] : [];
      });
    const failed = await this.log.stalls
      .whenSpace(session, append)
      .then(() => undefined, errorFrom);
    if (failed && failed.code !== 'forbidden') throw failed;
    return failed?.message;
  }

  async #verdict(
    reply: JudgedReply,
    { call, id, mapped }: { call: HeldCall; id: string; mapped: MappedCall },
  ): Promise<ApprovalVerdict> {
    const { session, signal } = reply;
    const { operation, input, risk, subject } = mapped;
    const asked = { id, operation: operation.name, input, risk, subject, fixed: true };
    // A later agent of the session, or a call that differs in anything, is asked about again.
    const about = JSON.stringify([await this.log.epoch(session), operation.name, input]);
    const note = (verdict: ApprovalVerdict) => this.#kept.note(reply, call.key, { about, verdict });
    const kept = this.#kept.take(session, about);
    if (kept && !(await this.approvals.withoutAsking(session, asked))) {
      await this.#record(session, id, kept);
      note(kept);
      return kept;
    }
    const verdict = await this.approvals.request(session, asked, signal).catch(errorFrom);
    if (!(verdict instanceof AppError)) {
      if (verdict.by === undefined) note(verdict);
      return verdict;
    }
    if (verdict.code !== 'limit_reached') throw verdict;
    return { verdict: 'rejected', reason: verdict.message, by: 'server' };
  }

  /** Logs a verdict that nobody gives now. */
  async #record(session: string, id: string, verdict: ApprovalVerdict): Promise<void> {
    await this.log.append(session, ({ state }) => {
      if (isEnded(state)) throw new AppError('cancelled', `The session is ${state}.`);
      return [verdictEvent(id, { verdict, by: { kind: 'server' } })];
    });
  }

  #countRefusal(session: string, { operation, subject }: MappedCall): number {
    const own = this.#refused.get(session) ?? new Map<string, number>();
    const key = `${operation.name} ${subject}`;
    const times = (own.get(key) ?? 0) + 1;
    own.set(key, times);
    this.#refused.set(session, own);
    return times;
  }
}

/** Programs whose tools nobody knows. */
const ofPrograms: Tools = {
  name: 'program',
  ping: 'comment',
  tools: {},
  belayTools: '',
  standIn: () => null,
};

interface Refused {
  tools: Tools | undefined;
  reply: JudgedReply;
  isLast?: boolean;
}

function refusalOf(subject: string, reason: string, { tools, reply, isLast }: Refused): Refusal {
  const text = `Belay did not run ${excerpt(subject, 200)}. ${reason} Go on in another way.`;
  return { text, standIn: isLast ? null : (tools?.standIn(text, reply.offered) ?? null) };
}
