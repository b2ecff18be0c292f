import { Req, Res } from '@nestjs/common';
import {
  agentTraceMediaType,
  AppError,
  proofRoutes,
  type NotedHead,
  type PublishedKey,
  type PublishedKeys,
  type RerunReport,
  type SignedEnvelope,
} from '@belay/protocol';
import type { Request, Response } from 'express';
import { assertMay, may } from '../../access/caller.js';
import { Evidence, noSuchEvidence, type StoredEvidence } from '../../proof/evidence.js';
import { NotedHeads } from '../../proof/noted-heads.js';
import { SigningKeys } from '../../proof/signing-keys.js';
import { RepeatedReruns } from '../../publishing/repeated-reruns.js';
import { Traces } from '../../publishing/traces/traces.js';
import { callerOf } from '../auth/access.guard.js';
import { linkNext } from './paging.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof proofRoutes>;

@RestController(proofRoutes)
export class ProofController {
  constructor(
    private readonly statements: Evidence,
    private readonly noted: NotedHeads,
    private readonly signing: SigningKeys,
    private readonly repeated: RepeatedReruns,
    private readonly traces: Traces,
  ) {}

  keys(): PublishedKeys {
    return { keys: this.signing.list() };
  }

  rotateKey(): Promise<PublishedKey> {
    return this.signing.rotate();
  }

  revokeKey({ params }: Inputs['revokeKey']): Promise<PublishedKey> {
    return this.signing.revoke(params.kid);
  }

  async evidence(
    { params: { id } }: Inputs['evidence'],
    @Req() request: Request,
  ): Promise<SignedEnvelope> {
    return (await this.#seen(id, request)).envelope;
  }

  async testResult(
    { params: { id } }: Inputs['testResult'],
    @Req() request: Request,
  ): Promise<SignedEnvelope> {
    const { testResult } = await this.#seen(id, request);
    if (testResult) return testResult;
    throw new AppError('not_found', `Nothing was run again for the statement ${id}.`);
  }

  async trace(
    { params: { id } }: Inputs['trace'],
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const { envelope } = await this.#seen(id, request);
    const trace = await this.traces.of(envelope);
    response.type(agentTraceMediaType).send(Buffer.from(JSON.stringify(trace)));
  }

  async repeatReruns(
    { params: { id } }: Inputs['repeatReruns'],
    @Req() request: Request,
  ): Promise<RerunReport> {
    const stored = await this.#seen(id, request);
    const caller = callerOf(request);
    assertMay(caller, 'operate', stored.session);
    return this.repeated.repeat(stored, caller);
  }

  async heads(
    { query: { after, limit } }: Inputs['heads'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<NotedHead[]> {
    const heads = await this.noted.after(after, limit);
    linkNext({ request, response }, heads.at(-1)?.id ?? after);
    return heads;
  }

  /** What is said about sessions that the caller does not see does not exist for it. */
  async #seen(id: string, request: Request): Promise<StoredEvidence> {
    const stored = await this.statements.get(id);
    if (!may(callerOf(request), 'view', stored.session)) throw noSuchEvidence(id);
    return stored;
  }
}
