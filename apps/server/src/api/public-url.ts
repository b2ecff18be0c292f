import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Config } from '../config.js';
import { baseUrlOf } from './base-url.js';

/** Where others reach this server: as it is set, or as a tunnel has made it. */
@Injectable()
export class PublicUrl {
  #url: string | undefined;

  constructor(config: Config) {
    this.#url = config.publicUrl && new URL(config.publicUrl).origin;
  }

  /** A tunnel was opened to here. */
  set(url: string): void {
    this.#url = new URL(url).origin;
  }

  get url(): string | undefined {
    return this.#url;
  }

  /** The name of its host; requests may name it as theirs. */
  get host(): string | undefined {
    return this.#url && new URL(this.#url).hostname;
  }

  /** The origin to print in documents: without a public one, that by which this request came. */
  origin(request: Pick<Request, 'protocol' | 'headers'>): string {
    return this.#url ?? baseUrlOf(request);
  }
}
