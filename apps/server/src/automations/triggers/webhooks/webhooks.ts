import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Injectable, Logger } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { GitHosts } from '../../../git/git-hosts.js';
import { Clock } from '../../clock.js';
import type { Forge } from '../../forges/forge.js';
import { ForgeSources } from '../../forges/forge-sources.js';
import { Deliveries } from '../deliveries.js';
import type { NewDelivery } from '../delivery-rows.js';
import type { ReadDelivery } from './payload-parts.js';
import { readDelivery } from './read-delivery.js';
import { mayBeSigned, verifySignature } from './verify-signature.js';

type SourceRow = NonNullable<Awaited<ReturnType<ForgeSources['find']>>>;

/** Bytes of a payload; hosts send at most 25 MiB, and only for pushes of thousands of commits. */
export const maxWebhookBytes = 8 * 2 ** 20;
const minuteMs = 60_000;

/** Takes the webhooks of git hosts: who sent it is certain before anything of it is read. */
@Injectable()
export class Webhooks {
  /** Signs nothing: an unknown source takes the same time as a wrong signature. */
  readonly #nobody = randomBytes(32).toString('hex');

  readonly #logger = new Logger(Webhooks.name);
  /** Sources and the last minute in which one that was too large was noted. */
  readonly #tooLarge = new Map<string, number>();

  constructor(
    private readonly sources: ForgeSources,
    private readonly hosts: GitHosts,
    private readonly deliveries: Deliveries,
    private readonly clock: Clock,
  ) {}

  /** Throws before the body is read, for a request that has no signature at all. */
  assertMayBeSigned(headers: IncomingHttpHeaders): void {
    if (!mayBeSigned(headers)) throw unsigned();
  }

  /**
   * Stores what was sent, and returns the id of its first row; null for a test of the webhook. Throws the same
   * `unauthorized` for an unknown source and for a wrong or missing signature.
   */
  async take(id: string, headers: IncomingHttpHeaders, body: Buffer): Promise<string | null> {
    const source = await this.#verified(id, headers, body);
    const bodySha256 = createHash('sha256').update(body).digest('hex');
    const now = this.clock.now();
    const kind = this.#kindOf(source) ?? 'github';
    const read = readDelivery(kind, headers, body, { fallbackId: bodySha256, now });
    if (read.isPing === true) return null;
    const [first, ...others] = deliveriesOf(source, read, bodySha256);
    if (!first) return null;
    const { id: stored } = await this.deliveries.receive(first);
    for (const each of others) await this.deliveries.receive(each);
    return stored;
  }

  /**
   * Notes one whose body is too large to be read, by its stated length if it has one. Anybody can send such, as no signature
   * can be checked: there is at most one row for each source and minute. Never rejects.
   */
  async noteTooLarge(id: string, statedBytes: number | undefined): Promise<void> {
    try {
      const minute = Math.floor(this.clock.now().getTime() / minuteMs);
      const source = await this.sources.find(id);
      if (!source || this.#tooLarge.get(id) === minute) return;
      this.#tooLarge.set(id, minute);
      const size =
        statedBytes === undefined
          ? `more than ${megabytes(maxWebhookBytes)}`
          : megabytes(statedBytes);
      await this.deliveries.receive({
        source: source.id,
        transport: 'webhook',
        delivery: `too-large:${minute}`,
        event: 'unknown',
        refused: `A webhook of ${size} was refused unread, and who sent it is unknown: at most ${megabytes(maxWebhookBytes)} are read.`,
      });
    } catch (error) {
      this.#logger.warn(error);
    }
  }

  async #verified(id: string, headers: IncomingHttpHeaders, body: Buffer): Promise<SourceRow> {
    const source = await this.sources.find(id);
    const kind = source && this.#kindOf(source);
    const secret = kind && (await this.sources.secretOf(id).catch(noSecret));
    const isSigned = verifySignature(kind ?? 'github', headers, body, {
      secret: secret ?? this.#nobody,
      now: this.clock.now(),
    });
    if (!source || secret === undefined || !isSigned) throw unsigned();
    return source;
  }

  /** Undefined for a host that was removed, or has no API. */
  #kindOf({ host }: SourceRow): Forge['kind'] | undefined {
    const { kind } = this.hosts.describe(host);
    return kind === 'other' ? undefined : kind;
  }
}

/** One for each occurrence: a webhook may say several things at once. */
function deliveriesOf(source: SourceRow, read: ReadDelivery, bodySha256: string): NewDelivery[] {
  const { delivery, event, occurrences, asks, repository } = read;
  const same = { source: source.id, transport: 'webhook', delivery, event, bodySha256 } as const;
  if (repository !== null && repository !== source.repository_id)
    return [{ ...same, refused: 'It is about another repository than the one that is followed.' }];
  if (occurrences.length === 0)
    return [
      {
        ...same,
        ...(read.refused !== undefined && { refused: read.refused }),
        ...(read.ignored !== undefined && { ignored: read.ignored }),
      },
    ];
  return occurrences.map((occurrence, at) => ({
    ...same,
    delivery: at === 0 ? delivery : `${delivery} ${at + 1}`,
    occurrence,
    asks,
  }));
}

/** Rounded up, so that what is too large does not look like what is allowed. */
const megabytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MB`;

function noSecret(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error;
}

const unsigned = (): AppError =>
  new AppError('unauthorized', 'It is not signed with the secret of this webhook.');
