import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { Clock } from '../clock.js';
import { AutomationsStore } from '../definitions/automations.store.js';
import { Deliveries } from './deliveries.js';
import { eventKey } from './event-keys.js';

/** Bytes of the JSON object. */
export const maxUrlBytes = 64 * 1024;
const form = /^Bearer (bhk_[\w-]{20,200})$/i;

export interface UrlRequest {
  /** The header Authorization. */
  authorization: string | undefined;
  /** The header Idempotency-Key: a request that is sent again is taken once. */
  idempotencyKey: string | undefined;
}

/** Begins runs by requests to an automation’s own address, with the secret of that automation alone. */
@Injectable()
export class UrlTrigger {
  constructor(
    private readonly automations: AutomationsStore,
    private readonly deliveries: Deliveries,
    private readonly clock: Clock,
  ) {}

  /** Throws before the body is read, for a request that has no secret at all. */
  assertHasSecret(authorization: string | undefined): void {
    secretOf(authorization);
  }

  /**
   * Stores the request, and returns the id of its row. Throws the same `unauthorized` for an unknown automation, one
   * without an address, and a wrong or missing secret.
   */
  async take(id: string, request: UrlRequest, payload: unknown): Promise<string> {
    const found = await this.automations.bySecret(id, secretOf(request.authorization));
    if (!found || !('url' in found.definition.on)) throw wrongSecret();
    const { on } = found.definition;
    if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
      throw new AppError('invalid_input', 'Send one JSON object.');
    const text = JSON.stringify(payload);
    const at = this.clock.now().toISOString();
    const { idempotencyKey } = request;
    const field = on.key === undefined ? undefined : fieldOf(payload, on.key);
    if (on.key !== undefined && field === undefined && idempotencyKey === undefined)
      throw new AppError(
        'invalid_input',
        `The object has no text or number in ${on.key.slice(0, 100)}, which identifies a request.`,
      );
    const name = idempotencyKey ?? field;
    const bodySha256 = sha256(text);
    const delivery = name === undefined ? `${at} ${bodySha256}` : sha256(name);
    const { id: stored } = await this.deliveries.receive({
      source: found.id,
      transport: 'url',
      delivery,
      event: 'url',
      bodySha256,
      occurrence: {
        event: 'url',
        key: eventKey('url', found.id, sha256(delivery)),
        at,
        actor: null,
        payload: text,
      },
    });
    return stored;
  }
}

/** The value of a field, of an object within it by `a.b`. */
function fieldOf(payload: object, path: string): string | undefined {
  const value = path.split('.').reduce<unknown>((of, name) => {
    const isObject = typeof of === 'object' && of !== null && Object.hasOwn(of, name);
    return isObject ? (of as Record<string, unknown>)[name] : undefined;
  }, payload);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

function secretOf(authorization: string | undefined): string {
  const secret = form.exec(authorization ?? '')?.[1];
  if (secret === undefined) throw wrongSecret();
  return secret;
}

const sha256 = (text: string): string =>
  createHash('sha256').update(text.toWellFormed()).digest('hex');

const wrongSecret = (): AppError =>
  new AppError('unauthorized', 'It does not have the secret of this automation’s address.');
