import { Req, Res } from '@nestjs/common';
import { hookRoutes } from '@belay/protocol';
import type { Request, Response } from 'express';
import { maxUrlBytes, UrlTrigger } from '../../automations/triggers/url-trigger.js';
import { maxWebhookBytes, Webhooks } from '../../automations/triggers/webhooks/webhooks.js';
import { AuditLog } from '../../access/audit-log.js';
import { parseJson } from '../json-bodies.js';
import { knownError } from '../problem.js';
import { readWithin } from '../read-within.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof hookRoutes>;

/**
 * What begins runs from outside. Bodies are read as they came, as signatures are of their bytes. What is accepted is stored
 * before it is answered, and the audit log has what is refused.
 */
@RestController(hookRoutes)
export class HooksController {
  constructor(
    private readonly webhooks: Webhooks,
    private readonly urls: UrlTrigger,
    private readonly audit: AuditLog,
  ) {}

  git(
    { params: { source } }: Inputs['git'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<{ delivery: string | null }> {
    return this.#refusalsNoted('hooks.git', source, request, async () => {
      this.webhooks.assertMayBeSigned(request.headers);
      const body = await this.#webhookBody(source, request);
      const delivery = await this.webhooks.take(source, request.headers, body);
      if (delivery === null) response.status(200);
      return { delivery };
    });
  }

  run({ params: { id } }: Inputs['run'], @Req() request: Request): Promise<{ delivery: string }> {
    return this.#refusalsNoted('hooks.run', id, request, async () => {
      const { authorization } = request.headers;
      this.urls.assertHasSecret(authorization);
      const payload = parseJson(await readWithin(request, maxUrlBytes));
      const idempotencyKey = request.header('idempotency-key')?.slice(0, 200);
      return { delivery: await this.urls.take(id, { authorization, idempotencyKey }, payload) };
    });
  }

  /** One that is too large leaves a row, for which the answer does not wait: it tells nobody which sources there are. */
  async #webhookBody(source: string, request: Request): Promise<Buffer> {
    try {
      return await readWithin(request, maxWebhookBytes);
    } catch (error) {
      if (knownError(error)?.code === 'too_large') {
        const stated = request.headers['content-length'];
        const bytes = stated === undefined ? undefined : Number(stated);
        void this.webhooks.noteTooLarge(source, bytes);
      }
      throw error;
    }
  }

  /** The audit log bounds how many failures of strangers it takes. */
  async #refusalsNoted<T>(
    action: string,
    subject: string,
    request: Request,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const outcome = knownError(error)?.code ?? 'internal';
      const address = request.socket.remoteAddress;
      this.audit.record({ api: 'rest', address, caller: undefined, action, subject, outcome });
      throw error;
    }
  }
}
