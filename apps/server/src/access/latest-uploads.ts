import { Injectable } from '@nestjs/common';
import { ExpiringValues } from '../storage/expiring-values.js';
import { seesAll, type Caller } from './caller.js';

/** How many of a caller’s latest uploads it may still use, and for how long, in milliseconds. */
const maxUploads = 200;
const usableMs = 24 * 3_600_000;

/**
 * What callers that do not see all sessions have uploaded, to any of the servers: knowing the id of an upload is not enough
 * to use it.
 */
@Injectable()
export class LatestUploads {
  constructor(private readonly values: ExpiringValues) {}

  async add(caller: Caller, id: string): Promise<void> {
    if (seesAll(caller)) return;
    const { id: owner } = caller;
    const expires = Date.now() + usableMs;
    const upload = {
      kind: 'upload',
      secret: secretOf(caller, id),
      owner,
      text: '',
      expires,
    } as const;
    // The same bytes have the same id, also when they are sent again.
    if (!(await this.values.add(upload))) await this.values.renew(upload);
    await this.values.limitOf('upload', owner, { rows: maxUploads, size: 0 });
  }

  /** Whether the caller may use it because of who it is. */
  async has(caller: Caller, id: string): Promise<boolean> {
    return (
      seesAll(caller) || (await this.values.find('upload', secretOf(caller, id))) !== undefined
    );
  }
}

const secretOf = (caller: Caller, id: string): string => `${caller.id} ${id}`;
